"""The number of optimizer steps that an iteration does."""

from alphazero.config.schema import Config
from alphazero.training.manifest import RunState


class StepSchedule:
    """Counts the steps that are due: replay ratio x positions / batch size, over all iterations.

    Beside actors, the learner may do up to `max_steps_ahead` steps before the games arrive that
    make them due; later iterations then have fewer.
    """

    def __init__(self, config: Config, state: RunState) -> None:
        self._config = config
        distributed = config.selfplay.distributed
        self._most_ahead = distributed.max_steps_ahead if distributed else 0
        ahead = state.step - config.steps_due(state.positions)
        self._ahead = max(min(ahead, self._most_ahead), 0)

    def take_due(self, before: int, now: int) -> int:
        """Return the steps to do after the number of positions grew from `before` to `now`."""
        due = self._config.steps_due(now) - self._config.steps_due(before)
        steps = max(due - self._ahead, 0)
        self._ahead -= due - steps
        return steps

    def take_ahead(self) -> bool:
        """Count one more step ahead and return True, or return False at the limit."""
        if self._ahead >= self._most_ahead:
            return False
        self._ahead += 1
        return True
