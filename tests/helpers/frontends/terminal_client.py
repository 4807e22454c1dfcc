"""A terminal with a scripted person, for tests; and a player that searches without a network."""

import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from alphazero.frontends.terminal.app import Terminal
from alphazero.frontends.terminal.screen import Screen
from alphazero.frontends.terminal.session import TerminalSession
from alphazero.games import Game
from alphazero.games.registry import read_game
from alphazero.mcts.network_search import NetworkSearch
from alphazero.players.base import Player
from alphazero.players.budget import Budget
from alphazero.players.search_player import SearchPlayer
from alphazero.players.specs import PlayerSpec
from helpers.searches import UniformEvaluator
from helpers.settings import search_config

FIRST, SECOND, BOTH, NONE = (True, False), (False, True), (True, True), (False, False)


@dataclass(frozen=True)
class Uniform(PlayerSpec):
    """A search whose network finds every move and every position alike."""

    simulations: int | None = 200
    seconds: float | None = None

    has_search = True

    @property
    def budget(self) -> Budget:
        return Budget(self.simulations, self.seconds)

    def _create(
        self, game: Game, num_games: int, rng: np.random.Generator, budget: Budget
    ) -> Player:
        del rng
        simulations = 4_000 if budget.simulations is None else budget.simulations
        settings = search_config(simulations=simulations)
        evaluator = UniformEvaluator(game.num_actions)
        return SearchPlayer(NetworkSearch(game, evaluator, settings, slots=num_games, leaves=8))


class Stream(io.StringIO):
    """A stream with given capabilities; `output` holds what was written to it, text by text."""

    def __init__(self, is_terminal: bool = False, encoding: str = "ascii") -> None:
        super().__init__()
        self.output: list[str] = []
        self.text = ""
        self._is_terminal, self._encoding = is_terminal, encoding

    def isatty(self) -> bool:
        return self._is_terminal

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._encoding

    def write(self, text: str) -> int:
        self.text += text
        self.output += [text.removesuffix("\n")] * bool(text)
        return len(text)


class TerminalTalk:
    """A terminal whose person types what a script says; `output` is all that it wrote."""

    def __init__(
        self,
        game_name: str,
        sides: tuple[bool, bool],
        words: Sequence[str] | Callable[["TerminalTalk"], Iterator[str]],
        simulations: int = 200,
        *,
        player: PlayerSpec | None = None,
        stream: Stream | None = None,
    ) -> None:
        self.game: Game = read_game(game_name)
        stream = stream or Stream()
        self.stream, self.output = stream, stream.output
        self.prompts: list[str] = []
        self.session = TerminalSession(player or Uniform("uniform", simulations), self.game, sides)
        self.terminal = Terminal(self.session, Screen(stream), self._read)
        self._words = words(self) if callable(words) else iter(words)

    def run(self) -> "TerminalTalk":
        self.terminal.run()
        return self

    @property
    def moves(self) -> list[str]:
        """The moves that lead to the position that is looked at."""
        game_tree = self.session.game_tree
        return self.game.action_names(game_tree.root.state, game_tree.current.moves)

    @property
    def text(self) -> str:
        return "\n".join(self.output)

    def _read(self, prompt: str) -> str:
        self.prompts.append(prompt)
        try:
            return next(self._words)
        except StopIteration:
            raise EOFError from None


class Row:
    """A line of a table of candidates."""

    def __init__(self, line: str) -> None:
        move, visits, share, wins, prior, *variation = line.split()
        self.move = move
        self.visits = int(visits.replace(",", ""))
        self.share = float(share.rstrip("%")) / 100
        self.value = 2 * float(wins.rstrip("%")) / 100 - 1 if wins != "-" else None
        self.prior = float(prior.rstrip("%")) / 100
        self.variation = variation


def tables_in(talk: TerminalTalk) -> list[list[Row]]:
    """Return every table of candidates that was shown."""
    tables = [
        text.splitlines() for text in talk.output if re.search("^ +move .* line *$", text, re.M)
    ]
    for table in tables:
        assert table[1].split() == ["move", "visits", "share", "wins", "prior", "line"]
    return [[Row(line) for line in table[2:]] for table in tables]
