"""UCI sessions inside the test's own process."""

from collections.abc import Callable, Iterable, Iterator

from alphazero.frontends.uci.engine import Engine
from alphazero.frontends.uci.session import Session
from alphazero.games.registry import read_game
from alphazero.players.registry import parse_player


class UciTalk:
    """A session of a player; `output` holds the lines that it wrote."""

    def __init__(
        self, player: str, game: str = "", lines: Iterable[str | Callable[[], object]] = ()
    ) -> None:
        """A function among `lines` waits in their place, for what must come before the next."""
        self.output: list[str] = []
        engine = Engine(parse_player(player), read_game(game) if game else None)
        self.session = Session(engine, self._script(lines), self._say)

    def run(self) -> list[str]:
        self.session.run()
        return self.output

    def _script(self, lines: Iterable[str | Callable[[], object]]) -> Iterator[str]:
        for line in lines:
            if isinstance(line, str):
                yield line
            else:
                line()

    def _say(self, text: str) -> None:
        self.output += text.split("\n")


def best_moves(output: list[str]) -> list[str]:
    """Return the words of each bestmove line."""
    return [line.removeprefix("bestmove ") for line in output if line.startswith("bestmove ")]
