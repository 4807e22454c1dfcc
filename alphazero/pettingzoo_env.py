"""A game as a PettingZoo environment, laid out like PettingZoo's classic games.

Terry et al., *PettingZoo: Gym for Multi-Agent Reinforcement Learning* (2021), section 4, "Agent
Environment Cycle" (AEC).
"""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from alphazero.errors import AlphaZeroError
from alphazero.games import ONGOING, Game, State, to_play, value_of
from alphazero.games.game import seen_by_other
from alphazero.games.registry import as_game, write_game

try:
    import gymnasium
    from gymnasium import spaces
    from pettingzoo import AECEnv
    from pettingzoo.utils import wrappers
except ImportError as error:
    raise AlphaZeroError(
        "this needs PettingZoo; install it with: pip install 'alphazero[pettingzoo]'"
    ) from error

AGENTS: Final = ("player_0", "player_1")
"""Player 0 moves first."""

RENDER_MODES: Final = ("ansi", "human")


def pettingzoo_env(game: str | Game, render_mode: str | None = None) -> "AECEnv[str, Any, Any]":
    """Return a game as a PettingZoo environment with the wrappers of the classic games.

    An illegal move ends the game: -1 for the player who made it, 0 for the other
    (`TerminateIllegalWrapper`). `GameEnv`, the `unwrapped` environment, documents observations.

    Args:
        game: a game, or its name with any options: "mnk:rows=4,columns=4,length=3".
        render_mode: "ansi": `render` returns the board as text; "human": `render` and every move
            print it; None: no rendering.

    Raises:
        GameError: for an unknown game.
    """
    env = GameEnv(as_game(game), render_mode)
    legal = wrappers.TerminateIllegalWrapper(env, illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(legal))


class GameEnv(AECEnv):  # type: ignore[misc]  # PettingZoo brings no types
    """One game between two agents.

    An agent observes a dictionary:

        observation    float32 [H, W, C], channels last as in the classic games: plane [..., 0]
                       holds the agent's own stones, [..., 1] the opponent's, then the game's
                       other planes. The waiting agent sees the position as if it were to move.
        action_mask    int8 [A], 1 for a legal action; all 0 for the waiting agent and at the end

    Rewards come with the last move: 1, 0 or -1. The games have no chance: a seed changes only
    the actions that PettingZoo's spaces sample.
    """

    def __init__(self, game: Game, render_mode: str | None = None) -> None:
        super().__init__()
        if render_mode not in (None, *RENDER_MODES):
            raise AlphaZeroError(
                f"render_mode must be None or one of {', '.join(RENDER_MODES)}, got {render_mode!r}"
            )
        self.game = game
        self.position: State = game.initial_state()
        """`int64 [S]`, a state of `game`"""
        self.render_mode = render_mode
        self.metadata = {
            "name": write_game(game),
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": False,
        }
        self.possible_agents = list(AGENTS)
        self.agents = list(AGENTS)
        self.observation_spaces = {agent: self._observation_space() for agent in AGENTS}
        self.action_spaces = {agent: spaces.Discrete(game.num_actions) for agent in AGENTS}

    def _observation_space(self) -> spaces.Space[Any]:
        channels, height, width = self.game.observation_shape
        planes = spaces.Box(-1, 1, (height, width, channels), np.float32)
        mask = spaces.Box(0, 1, (self.game.num_actions,), np.int8)
        return spaces.Dict({"observation": planes, "action_mask": mask})

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:  # noqa: ARG002
        """Start a game; `seed` and `options` have no effect."""
        self.position = self.game.initial_state()
        self.agents = list(AGENTS)
        self.agent_selection = AGENTS[0]
        self._skip_agent_selection = None
        self.rewards: dict[str, float] = dict.fromkeys(AGENTS, 0)
        self._cumulative_rewards: dict[str, float] = dict.fromkeys(AGENTS, 0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in AGENTS}

    def observe(self, agent: str) -> dict[str, npt.NDArray[Any]]:
        player, state = AGENTS.index(agent), self.position
        mask = np.zeros(self.game.num_actions, np.bool_)
        if player == to_play(state):
            mask = self.game.legal_action_mask(state)
        else:
            state = seen_by_other(state)
        planes = np.ascontiguousarray(self.game.observe(state).transpose(1, 2, 0))
        return {"observation": planes, "action_mask": mask.astype(np.int8)}

    def step(self, action: int | None) -> None:
        """Play the action of `agent_selection`; None for an agent whose game is over.

        Raises:
            GameError: for an illegal move; the wrappers let none through.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        assert action is not None, "an agent that is alive makes a move"
        self.position = self.game.play(self.position, int(action))
        self._cumulative_rewards[agent] = 0
        self._clear_rewards()
        outcome = self.game.outcome(self.position)
        if outcome != ONGOING:
            self.rewards = {name: value_of(outcome, AGENTS.index(name)) for name in AGENTS}
            self.terminations = dict.fromkeys(AGENTS, True)
        self.agent_selection = AGENTS[to_play(self.position)]
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def render(self) -> str | None:
        """Return the board ("ansi") or print it ("human")."""
        if self.render_mode is None:
            gymnasium.logger.warn("to render, make the environment with a render_mode")
            return None
        board = self.game.render(self.position)
        if self.render_mode == "ansi":
            return board
        print(board)
        return None
