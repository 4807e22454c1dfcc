"""A played game, independent of file formats."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from alphazero.errors import PlayerError
from alphazero.games.game import ONGOING, Game, State
from alphazero.games.registry import write_game
from alphazero.games.results import SCORES, describe_result
from alphazero.records.game_record import GameRecord
from alphazero.utils.files import printable
from alphazero.utils.tables import count_of

FORMAT: Final = "alphazero-game"
"""The value of a line's `format`."""


def first_state(game: Game, start: str) -> State:
    """Return the position in which a game begins, as `PlayedGame.start`; raise GameError."""
    return game.parse(start) if start else game.initial_state()


class Variation(NamedTuple):
    """Another line of a game."""

    ply: int
    """number of the game's moves before it, also the index of the move that it replaces"""
    actions: tuple[int, ...]
    comments: tuple[str, ...] = ()
    """one per move; empty if there are none"""


@dataclass(frozen=True)
class PlayedGame:
    """A game, finished or not, with its players' names."""

    game: Game
    players: tuple[str, str]
    """names of players 0 and 1"""
    actions: tuple[int, ...]
    outcome: int
    resigned: bool = False
    opening: int = 0
    """number of random moves at the start"""
    pair: int = 0
    """number of the pair of games with the same opening"""
    player_hashes: tuple[str, str] = ("", "")
    """hashes that distinguish players of the same name"""
    forfeit_reason: str = ""
    """why the loser forfeited the game; empty if nobody did"""
    comments: tuple[str, ...] = ()
    """one per move; empty if there are none. JSON lines have neither these nor the last four"""
    sgf_result: str = ""
    """the result in another program's SGF or PGN, if the moves do not imply it"""
    start: str = ""
    """the position in which it began, as `Game.parse` reads it; empty for the initial one"""
    setup: int = 0
    """number of moves at the start that stand for stones set up, as a handicap, in an SGF file"""
    variations: tuple[Variation, ...] = ()
    remark: str = ""
    """the file's comment on the whole game"""
    tags: tuple[tuple[str, str], ...] = ()
    """names and values of what else an SGF or PGN file says about the game, as its event"""
    number: int = field(default=0, compare=False)
    """of the game in its file, from 1; in JSON lines its line. 0: it was not read from a file"""

    @classmethod
    def of(
        cls,
        game: Game,
        record: GameRecord,
        names: tuple[str, str],
        player_hashes: tuple[str, str] = ("", ""),
    ) -> "PlayedGame":
        """Return the game of a record; `names` and `player_hashes` are the match's players'."""
        first, second = record.pairing.players
        return cls(
            record.variant(game),
            (names[first], names[second]),
            tuple(map(int, record.actions)),
            record.outcome,
            record.resigned,
            len(record.pairing.opening),
            record.pairing.pair_id,
            (player_hashes[first], player_hashes[second]),
            record.forfeit_reason,
        )

    @property
    def unchosen(self) -> int:
        """Number of moves at the start that no player chose."""
        return max(self.opening, self.setup)

    @property
    def first_state(self) -> State:
        return first_state(self.game, self.start)

    def states(self) -> list[State]:
        """Return the first position and the position after each move."""
        states = [self.first_state]
        for action in self.actions:
            states.append(self.game.play(states[-1], action))
        return states

    def moves(self) -> list[str]:
        return self.game.action_names(self.first_state, self.actions)

    def headline(self) -> str:
        """Return the players and the result in one line."""
        first, second = map(printable, self.players)
        words = SCORES | {ONGOING: "unfinished"}
        reason = printable(self.forfeit_reason)
        result = describe_result(self.outcome, self.resigned, reason, words)
        return f"{first} against {second}: {result}, {count_of(len(self.actions), 'move')}"

    def describe(self) -> str:
        """Return the result, the moves and the last position as text."""
        result = describe_result(self.outcome, self.resigned, self.forfeit_reason)
        position = self.game.render(self.states()[-1])
        moves = f"{count_of(len(self.actions), 'move')}\n{' '.join(self.moves())}"
        return f"{result}, {moves}\n{position}"

    def to_line(self) -> str:
        content = {
            "format": FORMAT,
            "game": write_game(self.game),
            "players": self.players,
            "result": SCORES[self.outcome],
            "resigned": self.resigned,
            "moves": self.moves(),
            "opening": self.opening,
            "pair": self.pair,
            "fingerprints": self.player_hashes,
            "fault": self.forfeit_reason,
        }
        content |= {"told": self.sgf_result} if self.sgf_result else {}
        content |= {"start": self.start} if self.start else {}
        return json.dumps(content)


def select_games(games: Sequence[PlayedGame], only: int | None) -> dict[int, PlayedGame]:
    """Return all games by their numbers in their file, or the one with the number `only`.

    Raise PlayerError when there is no such game.
    """
    numbered = {game.number or place: game for place, game in enumerate(games, 1)}
    if only is None:
        return numbered
    if only not in numbered:
        last = max(numbered)
        if 1 <= only <= last:
            raise PlayerError(f"game {only} cannot be read; the warnings say why")
        raise PlayerError(f"there is no game {only}; the file holds games 1 to {last:,}")
    return {only: numbered[only]}
