"""A position for notebooks, drawn with a player's search result.

game, player = alphazero.load_player("checkpoints/connect_four.safetensors", simulations=200)
alphazero.Position(game, "4 4 3").think(player)
"""

import copy
from collections.abc import Sequence

from alphazero.drawing.board import BoardDrawing, position_title
from alphazero.drawing.canvas import MARGIN, Canvas
from alphazero.drawing.position import draw_position
from alphazero.errors import PlayerError
from alphazero.games.game import Game
from alphazero.games.registry import as_game, write_game
from alphazero.games.results import describe_margin
from alphazero.players.position_search import SearchResult, check_player, search
from alphazero.players.search_player import SearchPlayer


class Position:
    """A position of a game, with an optional search result."""

    def __init__(self, game: Game | str, line: str | Sequence[str] = "") -> None:
        """Play the moves of `line`, as in `Game.from_moves`, from the initial position.

        `game` may be a text: `NAME` or `NAME:option=value,...`.

        Raises:
            GameError: for an unknown game or the first illegal move.
        """
        self.game = as_game(game)
        self.state = self.game.initial_state()
        self.last_cells: tuple[int, ...] = ()
        """the cells of the last move, which pictures mark"""
        self.search_result: SearchResult | None = None
        for name in self.game.split_moves(line):
            self._make(name)

    def play(self, *names: str) -> "Position":
        """Return the position after moves in the game's notation.

        Raises:
            GameError: for the first illegal move.
        """
        position = copy.copy(self)
        position.search_result = None
        for name in self.game.split_moves(names):
            position._make(name)
        return position

    def think(self, player: SearchPlayer) -> "Position":
        """Return the position with the result of `player`'s search, with its usual budget.

        Raises:
            GameError: when the game is over.
            PlayerError: unless the player is loaded, and plays this game.
        """
        check_player(player)
        if not player.search.game.accepts(self.game):
            raise PlayerError(
                f"the player plays {write_game(player.search.game)}, but this is a position of "
                f"{write_game(self.game)}"
            )
        position = copy.copy(self)
        position.search_result = search(player, self.state)
        return position

    def _make(self, name: str) -> None:
        action = self.game.parse_action(self.state, name)
        self.last_cells = self.game.move_cells(self.state, action)
        self.state = self.game.play(self.state, action)

    def __repr__(self) -> str:
        return f"{position_title(self.game, self.state)}\n{self.game.render(self.state)}"

    def _repr_svg_(self) -> str:
        title, result = position_title(self.game, self.state), self.search_result
        if result is None:
            canvas, board = Canvas(), BoardDrawing(self.game, MARGIN, MARGIN)
            board.draw(canvas, self.state, self.last_cells)
            return canvas.svg(title)
        total, action, margin = result.simulations, result.action, result.end.margin
        assert action is not None, "a search that has ended chose a move"
        policies = {"prior, %": result.prior}
        values = {}
        if result.network_value is not None:
            values["before the search"] = result.network_value
        if total:
            policies[f"{total:,} visits, %"] = result.visits / total
        if total or not values:
            values["after the search"] = result.value
        notes = [] if margin is None else [f"expected margin: {describe_margin(self.game, margin)}"]
        picture = draw_position(
            self.game,
            self.state,
            title=title,
            policies=policies,
            values=values,
            last_cells=self.last_cells,
            played=action,
            played_as=f"best move: {self.game.action_name(self.state, action)}",
            notes=notes,
        )
        return picture.svg(title)
