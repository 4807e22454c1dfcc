"""An external program as a player, over the Go Text Protocol."""

from alphazero.errors import PlayerError
from alphazero.games.game import PLY, Game, State, to_play
from alphazero.players.program_player import ProgramGame, ProgramPlayer
from alphazero.players.program_process import MOVE_TIMEOUT, ProgramProcess, Reply
from alphazero.players.program_protocols import GTP
from alphazero.records.gtp_notation import COLOURS, PASS, RESIGN, GtpNotation
from alphazero.utils.arrays import Int64Array


class GtpPlayer(ProgramPlayer):
    """Plays the moves of a program that speaks GTP."""

    protocol = GTP

    def __init__(
        self, game: Game, slots: int, command: str, move_timeout: float = MOVE_TIMEOUT
    ) -> None:
        self.vertices = GtpNotation(game)
        super().__init__(game, slots, command, move_timeout)

    def set_up(self, program: ProgramProcess) -> None:
        """Set the board size and the komi."""
        commands = self.ask(program, "list_commands").text.split()
        rows, columns = self.vertices.rows, self.vertices.columns
        if rows == columns and "boardsize" in commands:
            self.ask(program, f"boardsize {columns}")
        elif "rectangular_boardsize" in commands:
            self.ask(program, f"rectangular_boardsize {columns} {rows}")
        komi = getattr(self.game, "komi", None)
        if komi is not None:
            self.ask(program, f"komi {komi:g}")

    def reset(self, slots: Int64Array, states: State) -> None:
        """Start games; only from the initial state, because GTP sets no positions."""
        initial = self.game.pieces(self.game.initial_state())
        if any(state[PLY] or (self.game.pieces(state) != initial).any() for state in states):
            raise PlayerError(
                "a GTP program needs to see a game from its first move, not a position alone"
            )
        super().reset(slots, states)

    def begin_game(self, game: ProgramGame) -> None:
        game.send("clear_board")

    def send_move(self, game: ProgramGame, action: int) -> None:
        if game.move != action:  # it has played its own one
            name = self.vertices.name(game.state, action)
            game.send(f"play {COLOURS[to_play(game.state)]} {name}")

    def request_move(self, game: ProgramGame) -> None:
        game.send(f"genmove {COLOURS[to_play(game.state)]}")

    def take_reply(self, slot: int, game: ProgramGame, reply: Reply) -> None:
        word = reply.text.lower()
        if not reply.succeeded:
            # gtp-rhino and similar programs skip a forced pass and do not know the move.
            if not reply.command.endswith(PASS):
                self.forfeit(slot, f"refused '{reply.command}': {reply.text[:100]!r}")
        elif reply.command.startswith("genmove"):
            game.move = self.vertices.action(game.state, word)
            if word == RESIGN:
                self.forfeit(slot)
            elif game.move is None:
                self.forfeit(slot, f"illegal move {reply.text[:40]!r}")
