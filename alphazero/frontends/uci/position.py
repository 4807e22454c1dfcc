"""The position of a UCI session: a start, and moves since then.

Programs leave it to the players to claim draws by repetition or by moves without progress, and
may send moves after what is a draw here. The position then goes on as a new start, without its
history.
"""

from alphazero.errors import GameError
from alphazero.frontends.uci.options import UciError
from alphazero.games.game import ONGOING, State
from alphazero.games.pieces import PieceGame


class Position:
    """The current position of a game."""

    def __init__(self, game: PieceGame) -> None:
        self.game = game
        self.start = self.state = game.initial_state()
        self.moves: list[int] = []
        """actions since `start`"""
        self._start_text = "startpos"
        self._names: list[str] = []

    @property
    def is_over(self) -> bool:
        return self.game.outcome(self.state) != ONGOING

    def read(self, words: list[str]) -> None:
        """Set `startpos` or `fen FEN`, and the moves after `moves`.

        Raise UciError that says what is wrong; the position then stays.
        """
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
        self._start_text, self._names = text, names

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
        """Return a position as at the start of a game, with no moves without progress."""
        *fields, _, number = self.game.write_fen(state).split()
        return self.game.read_fen(" ".join([*fields, "0", number]))
