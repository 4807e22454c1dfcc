"""An external program as a player, over UCI."""

import re
from typing import Final

import numpy as np

from alphazero.errors import PlayerError, did_you_mean
from alphazero.games.game import Game
from alphazero.games.pieces import PieceGame
from alphazero.games.registry import write_game
from alphazero.players.program_player import ProgramGame, ProgramPlayer
from alphazero.players.program_process import UCI, ProgramProcess

VARIANT: Final = "UCI_Variant"


class UciPlayer(ProgramPlayer):
    """Plays the moves of a program that speaks UCI, in games whose pieces move."""

    protocol = UCI
    game: PieceGame

    def __init__(self, game: Game, slots: int, text: str) -> None:
        if not isinstance(game, PieceGame):
            raise PlayerError(
                f"uci: plays games whose pieces move, such as chess, not {write_game(game)}"
            )
        super().__init__(game, slots, text)

    def set_up(self, program: ProgramProcess) -> None:
        """Set the variant and the options."""
        text, variant = program.ask("uci").text, self.game.uci_variant
        names = re.findall(r"^option name (.+?) type ", text, re.MULTILINE)
        variants = re.findall(rf"^option name {VARIANT} .*", text, re.MULTILINE)
        known = re.findall(r" var (\S+)", variants[0]) if variants else ["chess"]
        if variant not in known:
            raise PlayerError(f"it does not know the game {variant}")
        for name in self.options:
            if name.lower() not in map(str.lower, names):
                raise PlayerError(f"it has no option {name[:40]!r}{did_you_mean(name, names)}")
        values = ({VARIANT: variant} if variants else {}) | self.options
        for name, value in values.items():
            program.send(f"setoption name {name} value {value}")
        program.ask("isready")

    def find_move(self, program: ProgramProcess, game: ProgramGame) -> int:
        names, state = [], game.start
        for action in game.moves:
            names.append(self.game.move_name(state, action))
            state = self.game.play(state, action)
        if game.sent is None:
            program.send("ucinewgame")
        is_usual = np.array_equal(game.start, self.game.initial_state())
        position = "startpos" if is_usual else f"fen {self.game.write_fen(game.start)}"
        moves = f" moves {' '.join(names)}" if names else ""
        program.send(f"position {position}{moves}")
        limits = " ".join(f"{name} {number}" for name, number in self.limits.items())
        text = program.ask(f"go {limits}", self.thinking_time).text
        _, name, *_ = [*text.split(), ""]
        legal = np.flatnonzero(self.game.legal_action_mask(state)).tolist()
        actions = {self.game.move_name(state, action): action for action in legal}
        if name.lower() not in actions:
            raise PlayerError(f"illegal move {text[:40]!r}")
        return actions[name.lower()]
