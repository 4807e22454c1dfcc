"""The game of a GTP session, with undo and a drawing.

GTP allows moves of either colour at any time, but turns alternate here: a move out of turn is
preceded by a pass of the other side, if the game has one and it does not end the game. This places
handicap stones and supports programs that skip a forced pass, such as gtp-rhino.
"""

from alphazero.errors import GameError
from alphazero.frontends.gtp.protocol import GtpError
from alphazero.games.game import ONGOING, Game, State, to_play
from alphazero.games.grid import SIGNS, VERTEX_LETTERS, stones_by_cell
from alphazero.records.gtp_notation import COLOURS, PASS, GtpNotation, pass_before


class GtpPosition:
    """A game in progress, as steps that can be undone.

    Raises:
        GameError: for a board whose cells GTP cannot name.
    """

    def __init__(self, game: Game) -> None:
        self.game = game
        self.vertices = GtpNotation(game)
        self.has_pass = game.action_name(game.initial_state(), game.num_actions - 1) == PASS
        self.steps: list[tuple[int, ...]] = []
        """the actions of each step"""
        self._states = [game.initial_state()]

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

        Raises:
            GtpError: when the game is over, or the other cannot pass.
        """
        try:
            return pass_before(self.game, self.state, player)
        except GameError as error:
            raise GtpError(f"illegal move: {error}") from None

    def read_move(self, player: int, text: str) -> tuple[int, ...]:
        """Parse a player's move; return its actions.

        Raises:
            GtpError: for an illegal or invalid move.
        """
        passes = self.passes_before(player)
        state = self.game.play(self.state, *passes)
        action = self.vertices.action(state, text)
        if action is not None:
            return *passes, action
        is_vertex = self.vertices.cell(text) is not None or text.lower() == PASS
        raise GtpError("illegal move" if is_vertex else f"invalid vertex {text[:20]!r}")

    def make(self, step: tuple[int, ...]) -> None:
        """Play legal actions as one step."""
        self._states.append(self.game.play(self.state, *step))
        self.steps.append(step)

    def undo(self) -> None:
        """Undo the last step.

        Raises:
            GtpError: when there is none.
        """
        if not self.steps:
            raise GtpError("cannot undo")
        del self.steps[-1], self._states[-1]

    def place(self, cells: list[int]) -> None:
        """Place handicap stones of Go for player 0, as one step; then player 1 is to move.

        Raises:
            GtpError: when the board is not empty, or these moves are illegal or end the game.
        """
        if self.steps:
            raise GtpError("board not empty")
        pass_action = self.vertices.passing(self.state)
        step: list[int] = []
        assert pass_action is not None, "Go has a pass"
        for cell in cells:
            step += [pass_action] if step else []
            action = self.vertices.action(self.state, self.vertices.cell_name(cell))
            assert action is not None, "every cell of an empty board can be played"
            step.append(action)
        try:
            state = self.game.play(self.state, *step)
        except GameError:
            raise GtpError("invalid handicap: a stone twice, or without liberties") from None
        if self.game.outcome(state) != ONGOING:
            raise GtpError("invalid handicap: these moves end the game")
        self.make(tuple(step))

    def draw(self) -> str:
        """Draw the board with coordinates and the player to move."""
        if not self.vertices.has_cells:
            return "\n" + self.game.render(self.state)
        columns, stones = self.vertices.columns, stones_by_cell(self.game, self.state)
        letters = "   " + " ".join(VERTEX_LETTERS[:columns])
        lines = [letters]
        for row in range(self.vertices.rows):
            signs = " ".join(SIGNS[stone] for stone in stones[row * columns : (row + 1) * columns])
            label = self.vertices.row_label(row)
            lines.append(f"{label:2} {signs} {label}")
        turn = "the game is over" if self.is_over else f"{COLOURS[self.to_play]} to play"
        return "\n" + "\n".join([*lines, letters, turn])
