"""The GTP engine: a player, a game with its clocks, and searches of moves.

GTP allows moves of either colour at any time, but turns alternate here: a move out of turn is
preceded by a pass of the other side, if the game has one and it does not end the game. This places
handicap stones and supports programs that skip a forced pass, such as gtp-rhino.
"""

import dataclasses
import sys
import time
from collections.abc import Callable, Iterable

from alphazero.errors import GameError, PlayerError
from alphazero.frontends.analyzer import Analyzer
from alphazero.frontends.clock import Clock, TimeSettings, expected_moves
from alphazero.frontends.gtp.protocol import GtpError, read_line
from alphazero.frontends.line_reader import MAX_LENGTH, Lines
from alphazero.games.game import ONGOING, Game, State, to_play
from alphazero.games.registry import write_game
from alphazero.players.specs import PlayerSpec
from alphazero.records.gtp_notation import PASS, RESIGN, GtpNotation, last_passes, pass_before
from alphazero.utils.files import escape
from alphazero.utils.progress import do_nothing

QUIT = "quit"


class Engine:
    """The state of a GTP session: input and output, one player, one game and two clocks.

    Raise GameError for a board whose cells GTP cannot name.
    """

    def __init__(
        self, spec: PlayerSpec, game: Game, lines: Iterable[str], say: Callable[[str], object]
    ) -> None:
        self.lines = Lines(lines, _is_quit)
        self.say = say
        self.number = ""
        """the number of the current command"""
        self.has_begun_reply = False
        self.spec = spec
        self.vertices = GtpNotation(game)
        self.analyzer = Analyzer(spec, game)
        self.clocks: list[Clock] | None = None
        """clocks of player 0 and 1; None without time limits"""
        self.own_move = -1
        """The number of moves right after the engine's last move."""
        self.rules = {name: getattr(game, name) for name in game.marginal_options}
        """those of the session; a file may bring others for its game"""
        self.begin(game)

    def begin(self, game: Game) -> None:
        """Start a game and reset the clocks.

        Raise PlayerError when the player does not play it, GameError when GTP cannot name its
        cells.
        """
        if game != self.game:
            spec = _player_of(self.spec, self.game, game)
            vertices, analyzer = GtpNotation(game), Analyzer(spec, game)
            if spec.transfer_note and spec is not self.spec:
                print(escape(spec.transfer_note), file=sys.stderr)
            self.spec, self.vertices, self.analyzer = spec, vertices, analyzer
        self.steps: list[tuple[int, ...]] = []
        """The actions of each step, which is undone as a whole."""
        self._states = [game.initial_state()]
        self.analyzer.set_position([])
        if self.clocks:
            self.clocks = [Clock(clock.settings) for clock in self.clocks]

    def by_rules(self, game: Game) -> Game:
        """Return a game by the rules of the session."""
        return dataclasses.replace(game, **self.rules)

    def begin_reply(self) -> None:
        """Write the first line of the reply to a command that writes more before it ends."""
        self.say(f"={self.number}\n")
        self.has_begun_reply = True

    # --- the game ---

    @property
    def game(self) -> Game:
        return self.vertices.game

    @property
    def state(self) -> State:
        return self._states[-1]

    @property
    def to_play(self) -> int:
        return to_play(self.state)

    @property
    def is_over(self) -> bool:
        return self.game.outcome(self.state) != ONGOING

    @property
    def moves(self) -> list[int]:
        """All actions, including implied passes."""
        return [action for step in self.steps for action in step]

    def passes_before(self, player: int) -> tuple[int, ...]:
        """Return the actions that give the player the turn: none, or a pass of the other.

        Raise GtpError when the game is over, or the other cannot pass.
        """
        try:
            return pass_before(self.game, self.state, player)
        except GameError as error:
            raise GtpError(f"illegal move: {error}") from None

    def read_move(self, player: int, text: str) -> tuple[int, ...]:
        """Parse a player's move; return its actions.

        Raise GtpError for an illegal or invalid move.
        """
        passes = self.passes_before(player)
        action = self.vertices.action(self.game.play(self.state, *passes), text)
        if action is not None:
            return *passes, action
        is_vertex = self.vertices.cells.read(text) is not None or text.lower() == PASS
        raise GtpError("illegal move" if is_vertex else f"invalid vertex {text[:20]!r}")

    def play(self, player: int, text: str) -> None:
        """Play a move of a game that another program leads; raise GtpError as `read_move`.

        Programs go on after two passes, when stones are disputed, and may pass a third time. As in
        SGF the passes before a move are left out then, and so is a pass after the end.
        """
        passing, is_pass = self.game.num_actions - 1, text.lower() == PASS
        has_pass = self.game.action_name(self._states[0], passing) == PASS
        passes = last_passes(self.steps, passing) if has_pass else 0
        if is_pass and passes and self.is_over:
            self.make(())
            return
        before = self.steps, self._states
        if passes and not is_pass and (self.is_over or player != self.to_play):
            self.steps = [*self.steps[:-passes], *[()] * passes]
            self._states = [*self._states[:-passes], *[self._states[-passes - 1]] * passes]
        try:
            self.make(self.read_move(player, text))
        except GtpError:
            self.steps, self._states = before
            raise

    def make(self, step: tuple[int, ...]) -> None:
        """Play legal actions as one step."""
        self._states.append(self.game.play(self.state, *step))
        self.steps.append(step)

    def undo(self) -> None:
        """Undo the last step; raise GtpError when there is none."""
        if not self.steps:
            raise GtpError("cannot undo")
        del self.steps[-1], self._states[-1]

    def set_komi(self, points: float) -> None:
        """Go on with the moves so far and another komi; games without one stay as they are.

        Raise GtpError when it is no multiple of a half, GameError when it is out of range,
        PlayerError when the player does not play it.
        """
        if points == getattr(self.game, "komi", points):
            return
        if 2 * points != int(2 * points):
            raise GtpError("komi must be a multiple of a half")
        steps, clocks = self.steps, self.clocks
        options = self.game.options | {"komi_half_points": int(2 * points)}
        self.begin(type(self.game)(**options))
        for step in steps:
            self.make(step)
        self.clocks = clocks

    def set_clocks(self, settings: TimeSettings | None) -> None:
        """Give both players a new clock; None for no time limits."""
        self.clocks = None if settings is None else [Clock(settings), Clock(settings)]

    # --- the player ---

    def sync(self, passes: tuple[int, ...] = ()) -> None:
        """Set the analyzer to the position, after `passes`."""
        self.analyzer.sync([*self.moves, *passes])

    def choose(
        self, player: int, watch: Callable[[], object] = do_nothing
    ) -> tuple[int, ...] | None:
        """Search the player's move; return its actions, or None to resign.

        `watch` is called between steps. When the game is over, a pass is answered, without actions.
        Raise GtpError when the controller has left, and the player cannot be stopped.
        """
        last = self.game.num_actions - 1
        if self.is_over and self.game.action_name(self._states[0], last) == PASS:
            return ()
        passes = self.passes_before(player)
        self.sync(passes)
        start, seconds = time.monotonic(), None
        if self.clocks:
            moves = expected_moves(self.game, len(self.moves))
            seconds = self.clocks[player].budget(moves)

        def watch_and_stop() -> bool:
            watch()
            has_ended = self.lines.ended_since(start)
            if has_ended and not self.analyzer.searches:
                raise GtpError("stopped: the input has ended")
            return has_ended

        action = self.analyzer.choose(self.analyzer.budget_in(seconds), watch_and_stop)
        if self.clocks:
            self.clocks[player].spend(time.monotonic() - start)
        return None if action is None else (*passes, action)

    def name(self, step: tuple[int, ...] | None) -> str:
        """Return the GTP name of the result of `choose`."""
        if step is None:
            return RESIGN
        return self.vertices.names(self.state, list(step))[-1] if step else PASS

    def make_choice(self, step: tuple[int, ...] | None) -> str:
        """Play the result of `choose`; return its GTP name."""
        name = self.name(step)
        if step is not None:
            self.make(step)
        self.own_move = len(self.moves)
        return name

    def ponder(self) -> None:
        """Search until a line arrives, if the last move was the engine's.

        A level does not ponder: its strength is that of its simulations.
        """
        is_own_move = len(self.moves) == self.own_move and not self.is_over
        if not is_own_move or not self.analyzer.searches or self.analyzer.level is not None:
            return
        self.sync()
        self.analyzer.begin()
        while not (self.analyzer.search.has_finished or self.lines.is_waiting()):
            self.analyzer.step()
        self.analyzer.end()


def resized(game: Game, rows: int, columns: int) -> Game:
    """Return the game with another board size; raise GameError when there is no such board."""
    sizes = {"rows": rows, "columns": columns}
    if game.observation_shape[1:] == (rows, columns):
        return game
    if "size" in game.options and rows == columns:
        sizes = {"size": rows}
    if sizes.keys() <= game.options.keys():
        return dataclasses.replace(game, **sizes)
    raise GameError("this game has no board of this size")


def _player_of(spec: PlayerSpec, own: Game, game: Game) -> PlayerSpec:
    """Return the player of the game `own` for `game`: a checkpoint may play other board sizes.

    Raise PlayerError when it does not play `game`.
    """
    if spec.plays(game):
        return spec
    _, rows, columns = own.observation_shape
    has_size = game.observation_shape[1:] == (rows, columns)
    if not has_size:
        try:
            return spec.for_game(game)
        except PlayerError:
            pass
    komi = getattr(own, "komi", None)
    kind = write_game(own) if komi == getattr(game, "komi", None) else f"with komi {komi:g}"
    raise PlayerError(f"this player plays {kind if has_size else f'on {columns} x {rows}'} only")


def _is_quit(text: str) -> bool:
    line = read_line(text) if len(text) <= MAX_LENGTH else None
    return line is not None and line.word == QUIT
