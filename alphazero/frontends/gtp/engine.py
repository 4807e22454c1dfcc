"""The GTP engine: a player, a game with its clocks, and searches of moves."""

import dataclasses
import sys
import time
from collections.abc import Callable

from alphazero.errors import GameError, PlayerError
from alphazero.frontends.analyzer import Analyzer
from alphazero.frontends.gtp.clock import Clock, TimeSettings, expected_moves
from alphazero.frontends.gtp.position import GtpPosition
from alphazero.frontends.gtp.protocol import GtpError
from alphazero.games.game import Game
from alphazero.games.registry import write_game
from alphazero.players.specs import PlayerSpec
from alphazero.records.gtp_notation import PASS, RESIGN
from alphazero.utils.progress import do_nothing


class Engine:
    """The state of a GTP session: one player, one game and two clocks."""

    def __init__(self, spec: PlayerSpec, game: Game) -> None:
        self.spec = spec
        self.position = GtpPosition(game)
        self.analyzer = Analyzer(spec, game)
        self.clocks: list[Clock] | None = None
        """clocks of player 0 and 1; None without time limits"""
        self.handicap = 0
        """Number of handicap moves at the start of the game."""
        self.has_controller_left: Callable[[float], bool] = lambda _: False
        """Whether the input ended during a search that started at this time."""
        self.begin(game)

    @property
    def game(self) -> Game:
        return self.position.game

    def begin(self, game: Game) -> None:
        """Start a game and reset the clocks.

        Raises:
            GtpError: when the player does not play it, or GTP cannot name its cells.
        """
        if game != self.game:
            try:
                spec = _player_of(self.spec, self.game, game)
                position, analyzer = GtpPosition(game), Analyzer(spec, game)
            except (GameError, PlayerError) as error:
                raise GtpError(str(error)) from None
            if spec.transfer_note and spec is not self.spec:
                print(spec.transfer_note, file=sys.stderr)
            self.spec, self.position, self.analyzer = spec, position, analyzer
        self.position = GtpPosition(game)
        self.analyzer.set_position([])
        self.handicap = 0
        if self.clocks:
            self.clocks = [Clock(clock.settings) for clock in self.clocks]

    def set_komi(self, points: float) -> None:
        """Go on with the moves so far and another komi; games without one stay as they are.

        Raises:
            GtpError: as `begin`, and when it is no multiple of a half.
            GameError: when it is out of range.
        """
        if points == getattr(self.game, "komi", points):
            return
        if 2 * points != int(2 * points):
            raise GtpError("komi must be a multiple of a half")
        steps, handicap, clocks = self.position.steps, self.handicap, self.clocks
        options = self.game.options | {"komi_half_points": int(2 * points)}
        self.begin(type(self.game)(**options))
        for step in steps:
            self.position.make(step)
        self.handicap, self.clocks = handicap, clocks

    def set_clocks(self, settings: TimeSettings | None) -> None:
        """Give both players a new clock; None for no time limits."""
        self.clocks = None if settings is None else [Clock(settings), Clock(settings)]

    def sync(self, passes: tuple[int, ...] = ()) -> None:
        """Set the analyzer to the position, after `passes`."""
        self.analyzer.sync([*self.position.moves, *passes])

    def choose(
        self, player: int, watch: Callable[[], object] = do_nothing
    ) -> tuple[int, ...] | None:
        """Search the player's move; return its actions, or None to resign.

        `watch` is called between steps. When the game is over, a pass is answered, without actions.

        Raises:
            GtpError: when the controller has left, and the player cannot be stopped.
        """
        if self.position.is_over and self.position.has_pass:
            return ()
        passes = self.position.passes_before(player)
        self.sync(passes)
        began, seconds = time.monotonic(), None
        if self.clocks:
            cells = self.position.vertices.rows * self.position.vertices.columns
            moves = expected_moves(cells, len(self.position.moves))
            seconds = self.clocks[player].budget(moves)

        def watch_and_stop() -> None:
            watch()
            if self.has_controller_left(began):
                if not self.analyzer.searches:
                    raise GtpError("stopped: the input has ended")
                self.analyzer.stop()

        action = self.analyzer.choose(seconds, watch_and_stop)
        if self.clocks:
            self.clocks[player].spend(time.monotonic() - began)
        return None if action is None else (*passes, action)

    def make(self, step: tuple[int, ...] | None) -> str:
        """Play the result of `choose`; return its GTP name."""
        name = self.move_name(step)
        if step:
            self.position.make(step)
        return name

    def move_name(self, step: tuple[int, ...] | None) -> str:
        """Return the GTP name of the result of `choose`."""
        if step is None:
            return RESIGN
        return self.position.vertices.names(self.position.state, list(step))[-1] if step else PASS


Handler = Callable[[Engine, list[str]], str]
"""Returns the reply to a command; raises GtpError or AlphaZeroError."""


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

    Raises:
        PlayerError: when it does not play `game`.
    """
    if spec.plays(game):
        return spec
    _, rows, columns = own.observation_shape
    has_size = game.observation_shape[1:] == (rows, columns)
    if type(own) is type(game) and not has_size:
        try:
            return spec.for_game(game)
        except PlayerError:
            pass
    komi = getattr(own, "komi", None)
    kind = write_game(own) if komi == getattr(game, "komi", None) else f"with komi {komi:g}"
    raise PlayerError(f"this player plays {kind if has_size else f'on {columns} x {rows}'} only")
