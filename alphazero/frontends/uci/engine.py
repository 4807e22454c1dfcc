"""The UCI engine: a player that is loaded late, its options, and the results of its search."""

from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from alphazero.errors import GameError, PlayerError
from alphazero.frontends.analyzer import Analyzer
from alphazero.frontends.clock import MARGIN, expected_moves
from alphazero.frontends.uci.protocol import CHECK, Limits, Line, Option, Options, UciError
from alphazero.games.game import ONGOING, PLY, Game, State, to_play
from alphazero.games.pieces import PieceGame
from alphazero.games.registry import all_games, make_game, write_game
from alphazero.mcts.kernels.tree import EDGE, NODE
from alphazero.network.checkpoint import Checkpoint, find_checkpoint, load_description
from alphazero.players.budget import NO_LIMIT, Budget
from alphazero.players.levels import Level, levels_file, load_levels
from alphazero.players.registry import agree_on_game
from alphazero.players.solver_players import MinimaxPlayer, value_of_score
from alphazero.players.specs import CheckpointSpec, PlayerSpec, ProgramSpec
from alphazero.solvers.alphabeta import WON, is_proven

MOST_MEMORY: Final = 2048
"""MiB of a tree."""


MOST_THREADS: Final = 1024
"""Of the option Threads, which programs set whatever its range is; a search has one."""


class Progress(NamedTuple):
    """What a search knows so far."""

    nodes: int
    depth: int
    """of alpha-beta; of a tree, the moves of its best line"""
    seldepth: int
    """of a tree, the moves of its longest line"""
    lines: list[Line]
    """best first"""


class Position:
    """The current position of a game: a start, and moves since then.

    Programs leave it to the players to claim draws by repetition or by moves without progress, and
    may send moves after what is a draw here. The position then goes on as a new start, without its
    history.
    """

    def __init__(self, game: PieceGame) -> None:
        self.game = game
        self.start = self.state = game.initial_state()
        self.moves: list[int] = []
        """actions since `start`"""
        self.is_refused = False
        """whether the last one read was wrong, so that this is an earlier one"""
        self._start_text = "startpos"
        self._names: list[str] = []

    @property
    def is_over(self) -> bool:
        return self.game.outcome(self.state) != ONGOING

    def read(self, words: list[str]) -> None:
        """Set `startpos` or `fen FEN`, and the moves after `moves`.

        Raise UciError that says what is wrong; the position then stays.
        """
        self.is_refused = True
        end = words.index("moves") if "moves" in words else len(words)
        text, names = " ".join(words[:end]), words[end + 1 :]
        start, state, moves, played = self.start, self.state, self.moves[:], len(self._names)
        if text != self._start_text or names[:played] != self._names:
            start = state = self._read_start(text)
            moves, played = [], 0
        for number, name in enumerate(names[played:], played + 1):
            try:
                action = self.game.parse_action(state, name)
            except GameError as error:
                raise UciError(f"position: move {number}: {error}") from None
            state = self.game.play(state, action)
            moves.append(action)
            if self.game.outcome(state) == 0:
                state = self._without_history(state)
                if self.game.outcome(state) == ONGOING:
                    start, moves = state, []
        self.start, self.state, self.moves = start, state, moves
        self._start_text, self._names, self.is_refused = text, names, False

    def _read_start(self, text: str) -> State:
        kind, _, fen = text.partition(" ")
        if text == "startpos":
            return self.game.initial_state()
        if kind != "fen" or not fen:
            raise UciError(f"position: expected startpos or fen FEN, got {text[:40]!r}")
        try:
            state = self.game.read_fen(fen)
        except GameError as error:
            raise UciError(f"position: {error}") from None
        return self._without_history(state) if self.game.outcome(state) == 0 else state

    def _without_history(self, state: State) -> State:
        """Return a position as at the start of a game: no moves without progress, and move 1."""
        *fields, _, _ = self.game.write_fen(state).split()
        return self.game.read_fen(" ".join([*fields, "0", "1"]))


class Engine:
    """A player of games whose pieces move.

    A position compiles the rules, and `load` imports torch, if the player has a network: both come
    after `uciok`, for which programs wait a few seconds.

    Raise PlayerError for a player of other games, or one that is a program itself.
    """

    def __init__(self, spec: PlayerSpec, game: Game | None) -> None:
        saved = _read_header(spec)
        own = saved[1].game if saved else None
        game = game or own or make_game("chess")
        if isinstance(spec, ProgramSpec):
            raise PlayerError(f"{spec.name} is a program already; name another player")
        if not isinstance(game, PieceGame):
            raise PlayerError(
                f"UCI has games whose pieces move, such as chess, not {write_game(game)}; "
                "for others try: alphazero gtp or alphazero serve"
            )
        self.spec = spec
        others = [] if own else all_games()
        self.games = {each.uci_variant: each for each in others if isinstance(each, PieceGame)}
        self.games[game.uci_variant] = game
        self.game: PieceGame = game
        self.levels = _measured_levels(*saved, game) if saved else {}
        """the levels by their rating"""
        self.options = self._make_options()
        self._position: Position | None = None
        self._analyzer: Analyzer | None = None
        self._start: bytes | None = None
        """The start of the analyzer's moves."""
        self._nodes = 0
        """The analyzer's nodes before its search."""

    @property
    def position(self) -> Position:
        if self._position is None:
            self._position = Position(self.game)
        return self._position

    @property
    def analyzer(self) -> Analyzer:
        """The loaded player."""
        assert self._analyzer, "load was called"
        return self._analyzer

    def load(self) -> None:
        """Load the player, unless it is loaded; raise AlphaZeroError if it cannot be."""
        if self._analyzer is None:
            (spec,), game = agree_on_game([self.spec], self.game)
            self._analyzer = Analyzer(spec, game, rng=np.random.default_rng())
            if self.options.is_set("UCI_LimitStrength"):
                rating = self.options.number("UCI_Elo")
                level = self.levels[min(self.levels, key=lambda elo: abs(elo - rating))]
                self.analyzer.think_for(level=level.number)
            self.forget()
            self.analyzer.set_position([])
            if self.analyzer.searches:
                # So that the first search does not wait for kernels and memory.
                self.analyzer.choose(Budget(1))
                self.analyzer.result(game.initial_state())

    def _make_options(self) -> Options:
        options = [
            Option("Hash", MOST_MEMORY // 2, 1, MOST_MEMORY),
            Option("Threads", 1, 1, MOST_THREADS),
            Option("MultiPV", 1, 1, self.game.most_legal),
            Option("Ponder", CHECK[False], choices=CHECK),
            Option("Move Overhead", round(1000 * MARGIN), 0, 10_000),
            Option("UCI_ShowWDL", CHECK[False], choices=CHECK),
            Option("UCI_Variant", self.game.uci_variant, choices=tuple(self.games)),
        ]
        if self.levels:
            lowest, highest = min(self.levels), max(self.levels)
            options.append(Option("UCI_LimitStrength", CHECK[False], choices=CHECK))
            options.append(Option("UCI_Elo", highest, lowest, highest))
        return Options(*options)

    def set_option(self, words: list[str]) -> None:
        """Set an option; raise UciError for a wrong one."""
        option = self.options.set(words)
        if option.name == "UCI_Variant" and option.value != self.game.uci_variant:
            self.game = self.games[str(option.value)]
            self._position = self._analyzer = None
        elif option.name in ("UCI_LimitStrength", "UCI_Elo"):
            self._analyzer = None

    # --- searches ---

    def forget(self) -> None:
        """Let the next search begin with an empty tree."""
        self._start = None

    def prepare(self, limits: Limits, actions: list[int]) -> None:
        """Set the player's position, and the moves that it may choose from."""
        analyzer, position, start = self.analyzer, self.position, self.position.start.tobytes()
        if start != self._start or actions:
            analyzer.moves = None
        analyzer.sync(position.moves, position.state)
        self._start = None if actions else start
        player = analyzer.player
        if isinstance(player, MinimaxPlayer):
            own = getattr(self.spec, "depth", None)
            mate = 2 * limits.numbers["mate"] - 1 if "mate" in limits.numbers else None
            player.depth = max(1, limits.numbers.get("depth") or mate or own or self.game.max_moves)
            player.root_actions = actions or None
        elif actions and analyzer.searches:
            analyzer.begin(0)
            analyzer.end()
            analyzer.search.restrict_root(0, actions)
        self._nodes = self._all_nodes()

    def budget(self, limits: Limits) -> Budget:
        """Return the budget of a search; without any limit, it is the player's own.

        It has no time where `seconds` gives one. A level keeps to its simulations when it ponders.
        """
        analyzer = self.analyzer
        if "infinite" in limits.flags or ("ponder" in limits.flags and analyzer.level is None):
            return NO_LIMIT
        if "nodes" in limits.numbers:
            return Budget(max(1, limits.numbers["nodes"]))
        if self.seconds(limits) is not None:
            return analyzer.budget_in(0.0)._replace(seconds=None)
        return NO_LIMIT if {"depth", "mate"} & limits.numbers.keys() else analyzer.budget

    def seconds(self, limits: Limits) -> float | None:
        """Return the time of a search; None without a clock."""
        state, overhead = self.position.state, self.options.number("Move Overhead") / 1000
        return limits.seconds(to_play(state), expected_moves(self.game, int(state[PLY])), overhead)

    def is_full(self) -> bool:
        """Whether the trees take the memory of the option Hash."""
        if not self.analyzer.searches:
            return False
        slot = self.analyzer.search.trees.slots[0]
        size = NODE.itemsize * slot["num_nodes"] + EDGE.itemsize * slot["num_edges"]
        return int(size) >= self.options.number("Hash") << 20

    def nodes(self) -> int:
        """Return the nodes of the current search: simulations, or positions of alpha-beta."""
        return self._all_nodes() - self._nodes

    def _all_nodes(self) -> int:
        player = self.analyzer.player
        if isinstance(player, MinimaxPlayer):
            return player.search.nodes
        return self.analyzer.search.simulations if self.analyzer.searches else 0

    def progress(self) -> Progress | None:
        """Return the results of the search; None if there are none."""
        player, state = self.analyzer.player, self.position.state
        if isinstance(player, MinimaxPlayer):
            search = player.search
            if search.best_action() < 0:
                return None
            score, depth = search.score, max(search.depth, 1)
            plies = WON - abs(score) - int(state[PLY]) if is_proven(score) else None
            line = Line(value_of_score(score), plies, [search.best_action()])
            return Progress(self.nodes(), depth, depth, [line])
        result = self.analyzer.result(state)
        if result is None or not result.candidates:
            return None
        visited = [candidate for candidate in result.candidates if candidate.visits]
        chosen = (visited or result.candidates[:1])[: self.options.number("MultiPV")]
        lines = [Line(candidate.value, None, candidate.line) for candidate in chosen]
        if result.proof:
            value, plies = result.proof
            lines[0] = Line(value, plies, lines[0].moves)
        depth = len(lines[0].moves)
        longest = max(len(candidate.line) for candidate in result.candidates)
        return Progress(self.nodes(), depth, longest, lines)


def _read_header(spec: PlayerSpec) -> tuple[Path, Checkpoint] | None:
    """Return the file of a checkpoint and what it says, without torch; None for other players."""
    if not isinstance(spec, CheckpointSpec):
        return None
    path = find_checkpoint(Path(spec.subject))
    return path, load_description(path)


def _measured_levels(path: Path, saved: Checkpoint, game: Game) -> dict[int, Level]:
    """Return the levels of a checkpoint by their rating, as far as they were measured."""
    table = load_levels(levels_file(path), game, saved.player_hash)
    levels = table.levels if table else ()
    return {round(level.elo): level for level in levels if level.elo is not None}
