"""An external program as a player, over UCI."""

import re
from typing import Final

import numpy as np

from alphazero.errors import PlayerError, did_you_mean
from alphazero.games.game import Game
from alphazero.games.pieces import PieceGame
from alphazero.games.registry import write_game
from alphazero.players.program_player import ProgramGame, ProgramPlayer
from alphazero.players.program_process import MOVE_TIMEOUT, ProgramProcess, Reply
from alphazero.players.program_protocols import UCI, read_command

VARIANT: Final = "UCI_Variant"


class UciPlayer(ProgramPlayer):
    """Plays the moves of a program that speaks UCI, in games whose pieces move."""

    protocol = UCI
    game: PieceGame

    def __init__(
        self, game: Game, slots: int, text: str, move_timeout: float = MOVE_TIMEOUT
    ) -> None:
        if not isinstance(game, PieceGame):
            raise PlayerError(
                f"uci: plays games whose pieces move, such as chess, not {write_game(game)}"
            )
        command, limits, self.options = read_command(text)
        self.limits = " ".join(f"{name} {number}" for name, number in limits.items())
        super().__init__(game, slots, command, move_timeout)

    def set_up(self, program: ProgramProcess) -> None:
        """Set the variant and the options."""
        text, variant = self.ask(program, "uci").text, self.game.uci_variant
        names = re.findall(r"^option name (.+?) type ", text, re.MULTILINE)
        variants = re.findall(rf"^option name {VARIANT} .*", text, re.MULTILINE)
        known = re.findall(r" var (\S+)", variants[0]) if variants else ["chess"]
        if variant not in known:
            raise PlayerError(f"uci:{self.command} does not know the game {variant}")
        for name in self.options:
            if name.lower() not in map(str.lower, names):
                hint = did_you_mean(name, names)
                raise PlayerError(f"uci:{self.command} has no option {name[:40]!r}{hint}")
        values = ({VARIANT: variant} if variants else {}) | self.options
        for name, value in values.items():
            program.send(f"setoption name {name} value {value}", has_reply=False)
        self.ask(program, "isready")

    def begin_game(self, game: ProgramGame) -> None:
        if game.stale_replies:
            game.send("stop", has_reply=False)
        game.send("ucinewgame", has_reply=False)

    def send_move(self, game: ProgramGame, action: int) -> None:
        """Do nothing: `request_move` sends all moves."""

    def request_move(self, game: ProgramGame) -> None:
        names, state = [], game.start
        for action in game.moves:
            names.append(self.game.move_name(state, action))
            state = self.game.play(state, action)
        is_usual = np.array_equal(game.start, self.game.initial_state())
        position = "startpos" if is_usual else f"fen {self.game.write_fen(game.start)}"
        moves = f" moves {' '.join(names)}" if names else ""
        game.send(f"position {position}{moves}", has_reply=False)
        game.send(f"go {self.limits}")

    def take_reply(self, slot: int, game: ProgramGame, reply: Reply) -> None:
        _, name, *_ = [*reply.text.split(), ""]
        legal = np.flatnonzero(self.game.legal_action_mask(game.state)).tolist()
        actions = {self.game.move_name(game.state, action): action for action in legal}
        game.move = actions.get(name.lower())
        if game.move is None:
            self.forfeit(slot, f"illegal move {reply.text[:40]!r}")
