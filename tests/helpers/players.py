"""Players made for tests."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from alphazero.config.schema import NetworkConfig
from alphazero.games import ONGOING, Game, State, make_game
from alphazero.games.game import PLY, to_play
from alphazero.network.checkpoint import Checkpoint, save_checkpoint
from alphazero.network.resnet import ResNet
from alphazero.players.base import Decisions, Player

TINY = NetworkConfig(blocks=1, filters=4, policy_filters=2, value_filters=1, value_hidden=4)


def saved_player(path: Path, game_name: str = "tic_tac_toe") -> Path:
    """Write an untrained player whose search has 8 simulations."""
    game = make_game(game_name)
    weights = ResNet(game.observation_shape, game.num_actions, TINY, seed=3).state_dict()
    details = {"search": {"simulations": 8}}
    save_checkpoint(path, Checkpoint(game_name, {}, TINY, weights, 12, 3, 25.0, details))
    return path


Slots = npt.NDArray[np.int64]


TIC_TAC_TOE = make_game("tic_tac_toe")


class ScriptedPlayer(Player):
    """Answers by a rule, after as many turns as the position says; notes what it is told.

    Its policy is all on its action, its value the number of moves played over 100.
    """

    def __init__(
        self,
        game: Game,
        tables: int,
        rule: Callable[[State], int],
        patience: Callable[[State], int] = lambda state: 1,
    ) -> None:
        self.game, self.rule, self.patience = game, rule, patience
        self.states: State = np.zeros((tables, game.state_size), np.int64)
        self.waiting: dict[int, int] = {}
        self.asked_to_play: list[int] = []
        self.owed: list[int] = []

    def reset(self, tables: Slots, states: State) -> None:
        self.states[tables] = states
        for table in tables.tolist():
            self.waiting.pop(table, None)

    def advance(self, tables: Slots, actions: Slots) -> None:
        for table, action in zip(tables.tolist(), actions.tolist(), strict=True):
            self.states[table] = self.game.play(self.states[table], action)

    def begin_moves(self, tables: Slots) -> None:
        for table in tables.tolist():
            assert table not in self.waiting, "asked twice"
            assert self.game.outcome(self.states[table]) == ONGOING
            self.asked_to_play.append(to_play(self.states[table]))
            self.waiting[table] = self.patience(self.states[table])

    def step(self) -> None:
        self.owed.append(len(self.waiting))
        self.waiting = {table: turns - 1 for table, turns in self.waiting.items()}

    def take_decisions(self) -> Decisions:
        ready = [table for table, turns in self.waiting.items() if turns <= 0]
        for table in ready:
            del self.waiting[table]
        actions = np.array([self.rule(self.states[table]) for table in ready], np.int64)
        policies = np.eye(self.game.num_actions, dtype=np.float32)[actions]
        values = (self.states[ready, PLY] / 100).astype(np.float32)
        return Decisions(np.array(ready, np.int64), actions, policies, values)


def first_legal(state: State) -> int:
    return int(np.flatnonzero(TIC_TAC_TOE.legal_action_mask(state))[0])
