"""A position to look at in a notebook, where it shows itself with what a player thinks of it.

game, player = alphazero.load_player("checkpoints/connect_four.safetensors", simulations=200)
alphazero.Position(game, "4 4 3").think(player)
"""

from dataclasses import dataclass

import numpy as np

from alphazero.drawing.board import BoardDrawing, title_of
from alphazero.drawing.canvas import MARGIN, Canvas
from alphazero.drawing.position import DARK, draw_position
from alphazero.errors import PlayerError
from alphazero.games.game import Game
from alphazero.games.registry import read_game, write_game
from alphazero.players.search_player import SearchPlayer
from alphazero.utils.arrays import Doubles, Slots


@dataclass(frozen=True)
class Thought:
    """What a player has found of a position; both values are the player's who is to move."""

    prior: Doubles
    """[A] the network's policy, legal actions only; without a network all alike"""
    visits: Slots
    """[A] of the search"""
    first_value: float
    """from -1 to 1, of the bare network or of one rollout; exact once it is proven"""
    value: float
    """from -1 to 1, of the search"""
    action: int
    """the move that it would play"""


class Position:
    """A position of a game, the moves that led there, and what a player thinks of it, if any."""

    def __init__(self, game: Game | str, line: str = "") -> None:
        """Play the moves of `line` from the first position of a game, or of the game so called.

        `game` is written as `NAME` or `NAME:option=value,...`, `line` as `Game.from_line` reads it.

        Raises:
            GameError: for an unknown game or the first move that is not legal.
        """
        self.game = read_game(game) if isinstance(game, str) else game
        self.state = self.game.initial_state()
        self.last_cell: int | None = None
        """where the last move is marked on the board, if anywhere"""
        self.thought: Thought | None = None
        for name in self.game.split_moves(line):
            self._make(name)

    def play(self, *names: str) -> "Position":
        """Return the position after moves in the game's notation.

        Raises:
            GameError: for the first that is not legal.
        """
        after = self._copy()
        for name in names:
            after._make(name)
        return after

    def think(self, player: SearchPlayer) -> "Position":
        """Return the position with what `player` finds of it by its usual budget.

        Raises:
            GameError: when the game is over.
            PlayerError: when the player plays another game.
        """
        if player.search.game != self.game:
            raise PlayerError(
                f"the player plays {write_game(player.search.game)}, but this is a position of "
                f"{write_game(self.game)}"
            )
        action = player.choose(self.state)
        roots = player.search.root_statistics(np.array([0]))
        found = self._copy()
        found.thought = Thought(
            roots.priors[0],
            roots.visits[0],
            player.search.root_network_value(0),
            float(roots.values[0]),
            action,
        )
        return found

    @property
    def title(self) -> str:
        """The position in words."""
        return title_of(self.game, self.state)

    def _make(self, name: str) -> None:
        action = self.game.parse_action(self.state, name)
        self.last_cell = self.game.action_cell(self.state, action)
        self.state = self.game.play(self.state, action)

    def _copy(self) -> "Position":
        """Return the bare position."""
        other = Position(self.game)
        other.state, other.last_cell = self.state, self.last_cell
        return other

    def __repr__(self) -> str:
        return f"{self.title}\n{self.game.render(self.state)}"

    def _repr_svg_(self) -> str:
        """Draw the position for a notebook."""
        title, thought = self.title, self.thought
        if thought is None:
            canvas = Canvas()
            BoardDrawing(self.game, MARGIN, MARGIN).draw(canvas, self.state, self.last_cell)
            return canvas.svg(title, DARK)
        total = int(thought.visits.sum())
        policies = {"prior, %": thought.prior}
        values = {"before the search": thought.first_value}
        if total:
            policies[f"{total:,} visits, %"] = thought.visits / total
            values["after the search"] = thought.value
        picture = draw_position(
            self.game,
            self.state,
            title=title,
            policies=policies,
            values=values,
            last_cell=self.last_cell,
            played=thought.action,
            played_as=f"best move: {self.game.action_name(self.state, thought.action)}",
        )
        return picture.svg(title, DARK)
