"""Play against a checkpoint, or another player, in the terminal: the board drawn, moves typed.

Typed words: a move in the game's own notation, or one of COMMANDS.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from alphazero.errors import AlphaZeroError, GameError
from alphazero.files import shown
from alphazero.games.board import SIGNS
from alphazero.games.game import ONGOING, Game, State, to_play, value_of
from alphazero.players.gamelog import PlayedGame
from alphazero.players.match import GameRecord, Match, Pairing
from alphazero.players.player import Decisions, Player, SearchPlayer
from alphazero.players.sgf_games import comment_of, save_played

COMMANDS = {
    "hint": "what the player would do in your place: moves, visits, values",
    "undo": "take back your last move and the answer to it",
    "new": "begin a new game",
    "save": "write the games so far: save FILE.sgf, or a line each into any other file",
    "help": "these words",
    "quit": "leave",
}

TABLE = np.array([0])

PERSON = "person"
"""How someone who types is called in files."""


class Human(Player):
    """The seat of someone whose moves are typed: the terminal makes them on the match."""

    def start(self, tables: np.ndarray, states: State) -> None:
        """See the board in the terminal."""

    def follow(self, tables: np.ndarray, actions: np.ndarray) -> None:
        """See the move in the terminal."""

    def ask(self, tables: np.ndarray) -> None:
        """Be asked by the prompt."""

    def think(self) -> None:
        """Think outside this program."""

    def decide(self) -> Decisions:
        """Answer at the prompt, not here."""
        none = np.zeros(0, np.int64)
        return Decisions(none, none, np.zeros((0, 0), np.float32), np.zeros(0, np.float32))


class Terminal:
    """A game between a person and a player, or of a player with itself."""

    def __init__(
        self,
        game: Game,
        player: Player,
        sides: tuple[bool, bool],
        read: Callable[[str], str] | None = None,
        say: Callable[[str], None] = print,
        *,
        name: str = "player",
        opening: PlayedGame | None = None,
    ) -> None:
        """`name` is the player's, for files; `opening` is a game to go on with."""
        self.game = game
        self.player = player
        self.sides = sides
        """Whether the person plays the first side, the second side."""
        self.read = read or input
        self.say = say
        self.names = (PERSON if sides[0] else name, PERSON if sides[1] else name)
        self.games: list[PlayedGame] = []
        """Those before the one on the table."""
        self.comments: list[str] = []
        """What the player thought of each move on the table; empty: nothing."""
        self.match = self._new_match(opening.actions if opening else ())
        if opening:
            self.comments = list(opening.comments) or [""] * len(opening.actions)

    def run(self, save: Path | None = None) -> None:
        """Play until the person leaves, or the game ends and no new one is wanted.

        Then the games are written into the file `save`, if one is given.
        """
        self.say("Type a move, or: " + ", ".join(COMMANDS) + ".")
        try:
            while self._play_game() and any(self.sides):
                self._begin_new()
        finally:
            played = self.played()
            if save and played:
                save_played(save, played)

    def played(self) -> list[PlayedGame]:
        """Return the games in which moves were made, the one on the table last."""
        moves, state = tuple(self._moves()), self.match.states[0]
        if not moves:
            return self.games
        outcome, comments = self.game.outcome(state), tuple(self.comments)
        return [*self.games, PlayedGame(self.game, self.names, moves, outcome, comments=comments)]

    def _begin_new(self) -> None:
        self.games = self.played()
        self.match, self.comments = self._new_match(()), []

    def _play_game(self) -> bool:
        """Play one game; return whether another one is wanted."""
        while True:
            state = self.match.states[0]
            outcome = self.game.outcome(state)
            if outcome != ONGOING:
                self._draw()
                self.say(self._result(outcome))
                return any(self.sides) and self._wants_another()
            if self.sides[to_play(state)]:
                self._draw()
                if not self._take_turn():
                    return False
            else:
                self._let_player_move()

    def _take_turn(self) -> bool:
        """Read words until a move is made; return False when the person leaves."""
        while True:
            state = self.match.states[0]
            text = self._ask(f"{self._side(to_play(state))} to move: ").strip()
            if text in ("quit", "exit"):
                return False
            if text == "help" or not text:
                self.say("\n".join(f"  {word:5} {meaning}" for word, meaning in COMMANDS.items()))
            elif text == "hint":
                self.say(self._hint())
            elif text == "undo":
                self._undo()
                return True
            elif text == "new":
                self._begin_new()
                return True
            elif text.split()[0] == "save":
                self.say(self._save(text.removeprefix("save").strip()))
            else:
                try:
                    action = self.game.parse_action(state, text)
                except GameError as error:
                    self.say(f"{error}")
                    continue
                self._make_move(action)
                return True

    def _make_move(self, action: int) -> None:
        policy = np.zeros((1, self.game.num_actions), np.float32)
        self.match.play(Decisions(TABLE, np.array([action]), policy, np.zeros(1, np.float32)))
        self.comments.append("")

    def _let_player_move(self) -> None:
        before = self.match.states[0].copy()
        moves = len(self._moves())
        while len(self._moves()) == moves:
            decided = self.player.decide()
            if len(decided.tables):
                name = self.game.action_name(before, int(decided.actions[0]))
                side = self._side(to_play(before))
                self.say(f"{side} plays {name}{self._thoughts(decided, side)}")
                self.comments.append(self._comment(before, decided))
                self.match.play(decided)
            else:
                self.player.think()

    def _thoughts(self, decided: Decisions, side: str) -> str:
        """Say what a search thought of the position; nothing of a player that does not search."""
        if not isinstance(self.player, SearchPlayer):
            return ""
        simulations = int(self.player.search.roots(TABLE).visits.sum())
        return f" (value {decided.values[0]:+.2f} for {side}, {simulations:,} simulations)"

    def _comment(self, state: State, decided: Decisions) -> str:
        """Say the same for a file."""
        if not isinstance(self.player, SearchPlayer):
            return ""
        visits = self.player.search.roots(TABLE).visits[0]
        action, value = int(decided.actions[0]), float(decided.values[0])
        return comment_of(self.game, state, action, value, decided.policies[0], visits)

    def _save(self, name: str) -> str:
        """Write the games into a file; say how that went."""
        played = self.played()
        if not name:
            return "type a file's name as well, as in: save game.sgf"
        if not played:
            return "there is no move to save yet"
        try:
            save_played(Path(name), played)
        except AlphaZeroError as error:
            return f"{error}"
        return f"saved {len(played)} game{'s' * (len(played) > 1)} in {shown(name)}"

    def _hint(self) -> str:
        """Search the person's position and describe the best moves."""
        if not isinstance(self.player, SearchPlayer):
            return "this player gives no hints: it does not search as a checkpoint does"
        search, state = self.player.search, self.match.states[0]
        self.player.ask(TABLE)
        self.player.think()
        while not len(search.collect()):
            self.player.think()
        roots = search.roots(TABLE)
        lines = ["  move  visits  share  value  prior  line"]
        legal = np.flatnonzero(self.game.legal_action_mask(state))
        order = np.lexsort((-roots.priors[0, legal], -roots.visits[0, legal]))
        for action in legal[order[:5]]:
            value = roots.action_values[0, action]
            told = f"{value:+.2f}" if np.isfinite(value) else "    -"
            line = " ".join(_names(self.game, state, search.variation(0, int(action))))
            lines.append(
                f"  {self.game.action_name(state, int(action)):>4} "
                f"{roots.visits[0, action]:7,} {roots.targets[0, action]:6.1%} "
                f"{told:>6} {roots.priors[0, action]:6.1%}  {line}"
            )
        return "\n".join(lines)

    def _undo(self) -> None:
        """Go back to the person's move before this one."""
        moves = self._moves()
        back = len(moves) - 1
        while back >= 0 and not self.sides[back % 2]:
            back -= 1
        if back < 0:
            self.say("there is no move of yours to take back")
            return
        self.match = self._new_match(tuple(moves[:back]))
        del self.comments[back:]

    def _new_match(self, moves: tuple[int, ...]) -> Match:
        """Lay out a game in which `moves` have been played."""
        seats = (int(not self.sides[0]), int(not self.sides[1]))
        schedule = iter([Pairing(seats, moves)])
        match = Match(self.game, [Human(), self.player], 1, schedule)
        match.fill()
        return match

    def _moves(self) -> list[int]:
        record: GameRecord = self.match.record(0)
        return [int(action) for action in record.actions]

    def _draw(self) -> None:
        self.say("\n" + self.game.render(self.match.states[0]) + "\n")

    def _side(self, player: int) -> str:
        return SIGNS[player + 1]

    def _result(self, outcome: int) -> str:
        if outcome == 0:
            return "The game is a draw."
        winner = 0 if value_of(outcome, 0) > 0 else 1
        whose = " (you)" if self.sides[winner] else ""
        return f"{self._side(winner)}{whose} wins."

    def _wants_another(self) -> bool:
        try:
            return self._ask("Another game? [y/N] ").strip().lower() in ("y", "yes", "new")
        except AlphaZeroError:
            return False

    def _ask(self, prompt: str) -> str:
        try:
            return self.read(prompt)
        except UnicodeDecodeError:
            return "\N{REPLACEMENT CHARACTER}"
        except (EOFError, RuntimeError):  # RuntimeError: there is no standard input at all
            if sys.stdin is not None and sys.stdin.isatty():
                self.say("")
                return "quit"
            raise AlphaZeroError(
                "no more input: moves are typed in a terminal, or piped in one a line and "
                "ended by 'quit'"
            ) from None


def _names(game: Game, state: State, actions: list[int]) -> Iterator[str]:
    for action in actions:
        yield game.action_name(state, action)
        state = game.play(state, action)
