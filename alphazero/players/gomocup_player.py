"""An external program as a player of gomoku, over the protocol of the Gomocup tournament.

The protocol, also called Piskvork's: https://plastovicka.github.io/protocl2en.htm
"""

from alphazero.errors import PlayerError
from alphazero.games.game import Game
from alphazero.games.mnk import Mnk
from alphazero.games.registry import write_game
from alphazero.players.program_player import ProgramGame, ProgramPlayer
from alphazero.players.program_process import GOMOCUP, ProgramProcess

FREESTYLE = 0
"""The rule by which more than five in a row win, too."""


class GomocupPlayer(ProgramPlayer):
    """Plays the moves of a program of gomoku."""

    protocol = GOMOCUP
    game: Mnk

    def __init__(self, game: Game, slots: int, text: str) -> None:
        if not (isinstance(game, Mnk) and game.length == 5 and game.rows == game.columns):
            raise PlayerError(f"gomocup: plays gomoku on square boards, not {write_game(game)}")
        super().__init__(game, slots, text)

    def set_up(self, program: ProgramProcess) -> None:
        """Set the limits, the options and the size of the board."""
        if self.options.get("rule", str(FREESTYLE)) != str(FREESTYLE):
            raise PlayerError("rule: more than five in a row win here, which is rule 0")
        for name, value in {**self.limits, **self.options, "rule": FREESTYLE}.items():
            program.send(f"INFO {name} {value}")
        self._start(program)

    def find_move(self, program: ProgramProcess, game: ProgramGame) -> int:
        size, moves = self.game.rows, game.moves
        names = [f"{cell % size},{cell // size}" for cell in range(size * size)]
        if moves and game.sent == moves[:-1]:
            command = f"TURN {names[moves[-1]]}"
        else:
            self._start(program)
            sides = [1 + (len(moves) - ply) % 2 for ply in range(len(moves))]  # 1: its own
            stones = [f"{names[move]},{side}" for move, side in zip(moves, sides, strict=True)]
            command = "\n".join(["BOARD", *stones, "DONE"]) if stones else "BEGIN"
        text = program.demand(command, self.thinking_time)
        if text not in names or names.index(text) in moves:
            raise PlayerError(f"illegal move {text[:40]!r}")
        return names.index(text)

    def _start(self, program: ProgramProcess) -> None:
        """Begin a game on an empty board."""
        program.demand(f"START {self.game.rows}")
