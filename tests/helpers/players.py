"""Players made for tests."""

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from alphazero.config.schema import NetworkConfig, SearchConfig
from alphazero.games import ONGOING, Game, State
from alphazero.games.game import PLY, to_play
from alphazero.games.registry import read_game
from alphazero.network.checkpoint import Checkpoint, save_checkpoint
from alphazero.network.resnet import ResNet
from alphazero.players.base import Decisions, Player
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


class ScriptedPlayer(Player):
    """Plays by a rule, after a number of steps that depends on the position; records its calls.

    Its policy is all on its action, its value the number of moves played over 100.
    """

    def __init__(
        self,
        game: Game,
        slots: int,
        rule: Callable[[State], int],
        patience: Callable[[State], int] = lambda state: 1,
    ) -> None:
        self.game, self.rule, self.patience = game, rule, patience
        self.states: State = np.zeros((slots, game.state_size), np.int64)
        self.waiting: dict[int, int] = {}
        self.asked_to_play: list[int] = []
        self.owed: list[int] = []

    def reset(self, slots: Int64Array, states: State) -> None:
        self.states[slots] = states
        for slot in slots.tolist():
            self.waiting.pop(slot, None)

    def advance(self, slots: Int64Array, actions: Int64Array) -> None:
        for slot, action in zip(slots.tolist(), actions.tolist(), strict=True):
            self.states[slot] = self.game.play(self.states[slot], action)

    def begin_moves(self, slots: Int64Array) -> None:
        for slot in slots.tolist():
            assert slot not in self.waiting, "asked twice"
            assert self.game.outcome(self.states[slot]) == ONGOING
            self.asked_to_play.append(to_play(self.states[slot]))
            self.waiting[slot] = self.patience(self.states[slot])

    def step(self) -> None:
        self.owed.append(len(self.waiting))
        self.waiting = {slot: turns - 1 for slot, turns in self.waiting.items()}

    def take_decisions(self) -> Decisions:
        ready = [slot for slot, turns in self.waiting.items() if turns <= 0]
        for slot in ready:
            del self.waiting[slot]
        actions = np.array([self.rule(self.states[slot]) for slot in ready], np.int64)
        shares = np.ones((len(ready), 1), np.float32)
        values = (self.states[ready, PLY] / 100).astype(np.float32)
        return Decisions(
            np.array(ready, np.int64), actions, actions[:, None].copy(), shares, values
        )


def first_legal(state: State) -> int:
    return int(np.flatnonzero(TIC_TAC_TOE.legal_action_mask(state))[0])
