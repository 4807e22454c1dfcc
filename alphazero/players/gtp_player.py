"""An external program as a player, over the Go Text Protocol."""

from alphazero.errors import PlayerError
from alphazero.games.game import Game
from alphazero.players.program_player import ProgramGame, ProgramPlayer
from alphazero.players.program_process import GTP, ProgramProcess
from alphazero.records.gtp_notation import COLOURS, PASS, RESIGN, GtpNotation


class GtpPlayer(ProgramPlayer):
    """Plays the moves of a program that speaks GTP."""

    protocol = GTP

    def __init__(self, game: Game, slots: int, text: str) -> None:
        self.vertices = GtpNotation(game)
        super().__init__(game, slots, text)

    def set_up(self, program: ProgramProcess) -> None:
        """Set the board size and the komi."""
        commands = _ask(program, "list_commands").split()
        rows, columns = self.vertices.rows, self.vertices.columns
        if rows == columns and "boardsize" in commands:
            _ask(program, f"boardsize {columns}")
        elif "rectangular_boardsize" in commands:
            _ask(program, f"rectangular_boardsize {columns} {rows}")
        komi = getattr(self.game, "komi", None)
        if komi is not None:
            _ask(program, f"komi {komi:g}")

    def find_move(self, program: ProgramProcess, game: ProgramGame) -> int | None:
        sent, names = game.sent, self.vertices.names(game.start, game.moves)
        if sent is None or sent != game.moves[: len(sent)]:
            sent = []
            _ask(program, "clear_board")
        for ply in range(len(sent), len(names)):
            _ask(program, f"play {COLOURS[ply % 2]} {names[ply]}")
        text = _ask(program, f"genmove {COLOURS[len(names) % 2]}")
        if text.lower() == RESIGN:
            return None
        state = self.game.play(game.start, *game.moves)
        action = self.vertices.action(state, text.lower())
        if action is None:
            raise PlayerError(f"illegal move {text[:40]!r}")
        return action


def _ask(program: ProgramProcess, command: str) -> str:
    """Return the reply to a command; raise PlayerError if the program refuses it."""
    # gtp-rhino and similar programs skip a forced pass and do not know the move.
    return program.ask(command).text if command.endswith(PASS) else program.demand(command)
