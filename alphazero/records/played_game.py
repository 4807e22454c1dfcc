"""A played game: what is saved and loaded, whatever the file."""

import json
from dataclasses import dataclass
from typing import Final

from alphazero.games.game import ONGOING, Game, State
from alphazero.games.registry import write_game
from alphazero.records.game_record import GameRecord

RESULTS: Final = {1: "1-0", 0: "1/2-1/2", -1: "0-1", ONGOING: "*"}
"""The results by the outcome."""


@dataclass(frozen=True)
class PlayedGame:
    """A game, finished or not, and who played it."""

    game: Game
    players: tuple[str, str]
    """names: who moved first, who moved second"""
    actions: tuple[int, ...]
    outcome: int
    resigned: bool = False
    opening: int = 0
    """random moves that open it, before anybody thinks"""
    pair: int = 0
    """which pair of games with one opening, of these two players, it belongs to"""
    player_hashes: tuple[str, str] = ("", "")
    """what tells the players from others of the same names"""
    forfeit_reason: str = ""
    """why the game was taken from the player who lost it; empty: it was not"""
    comments: tuple[str, ...] = ()
    """what is said of the moves, one by one; not kept in a line of a file"""
    told: str = ""
    """the result as another program's SGF has it, where the moves do not say the same"""

    @classmethod
    def of(
        cls,
        game: Game,
        record: GameRecord,
        names: tuple[str, str],
        fingerprints: tuple[str, str] = ("", ""),
    ) -> "PlayedGame":
        """Return the game of a match between players 0 and 1, so called."""
        first, second = record.pairing.players
        return cls(
            game,
            (names[first], names[second]),
            tuple(map(int, record.actions)),
            record.outcome,
            record.resigned,
            len(record.pairing.opening),
            record.pairing.pair_id,
            (fingerprints[first], fingerprints[second]),
            record.forfeit_reason,
        )

    def states(self) -> list[State]:
        """Return the first position and that after each move."""
        states = [self.game.initial_state()]
        for action in self.actions:
            states.append(self.game.play(states[-1], action))
        return states

    def moves(self) -> list[str]:
        """Return the moves in the game's notation."""
        pairs = zip(self.states(), self.actions, strict=False)
        return [self.game.action_name(state, action) for state, action in pairs]

    def to_line(self) -> str:
        """Write the game as a line of the file."""
        content = {
            "format": FORMAT,
            "game": write_game(self.game),
            "players": self.players,
            "result": RESULTS[self.outcome],
            "resigned": self.resigned,
            "moves": self.moves(),
            "opening": self.opening,
            "pair": self.pair,
            "fingerprints": self.player_hashes,
            "fault": self.forfeit_reason,
        }
        content |= {"told": self.told} if self.told else {}
        return json.dumps(content)


FORMAT: Final = "alphazero-game"
