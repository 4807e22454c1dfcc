"""Players made for tests."""

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from alphazero.config.schema import NetworkConfig, SearchConfig
from alphazero.games import ONGOING, Game, State
from alphazero.games.game import PLY
from alphazero.games.registry import read_game
from alphazero.network.checkpoint import Checkpoint, save_checkpoint
from alphazero.network.resnet import ResNet
from alphazero.players.sequential_player import SequentialPlayer
from alphazero.utils.arrays import Int64Array
from helpers.games import TIC_TAC_TOE
from helpers.settings import network_config

TINY = network_config(blocks=1, filters=4, policy_filters=2, value_filters=1, value_hidden=4)
ANY_SIZE = replace(TINY, heads="convolutional")


def saved_player(
    path: Path, game_name: str = "tic_tac_toe", network: NetworkConfig = TINY, **details: Any
) -> Path:
    """Write an untrained player whose search has 8 simulations, unless `details` say otherwise."""
    game = read_game(game_name)
    name, _, given = game_name.partition(":")
    weights = ResNet.of(game, network, seed=3).state_dict()
    search = asdict(SearchConfig(simulations=8)) | details.get("search", {})
    details |= {"search": search}
    options = dict(game.options) if given else {}
    save_checkpoint(path, Checkpoint(name, options, network, weights, 12, 3, 25.0, details))
    return path


class ScriptedPlayer(SequentialPlayer):
    """Plays by a rule, in every `lateness`-th step; by default its value is the plies over 100."""

    def __init__(
        self,
        game: Game,
        slots: int,
        rule: Callable[[State], int],
        value: Callable[[State], float] = lambda state: float(state[PLY]) / 100,
        lateness: int = 1,
    ) -> None:
        super().__init__(game, slots)
        self.rule, self.value, self.lateness, self.steps = rule, value, lateness, 0

    def begin_moves(self, slots: Int64Array) -> None:
        assert not {*slots.tolist()} & {*self._waiting}, "asked twice"
        assert all(self.game.outcome(state) == ONGOING for state in self._states[slots])
        super().begin_moves(slots)

    def step(self) -> None:
        self.steps += 1
        for _ in range(len(self._waiting)):
            slot = self._waiting.popleft()
            if (self.steps + slot) % self.lateness:
                self._waiting.append(slot)
            else:
                state = self._states[slot]
                self._answers[slot] = int(self.rule(state)), float(self.value(state))


def first_legal(state: State) -> int:
    return int(np.flatnonzero(TIC_TAC_TOE.legal_action_mask(state))[0])
