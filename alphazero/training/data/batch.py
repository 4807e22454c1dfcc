"""The samples of one optimizer step.

Letters: B batch, A actions, [C, H, W] observation.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Generic, NamedTuple, TypeVar

Array = TypeVar("Array")
"""float32 arrays as they are drawn, tensors in the loss"""


class Target(NamedTuple, Generic[Array]):
    """The target of one auxiliary head for B positions."""

    values: Array
    """[B, ...] for the player to move, see `target_shapes`"""
    weights: Array
    """[B] 1 where the target is known, else 0"""


class Batch(NamedTuple, Generic[Array]):
    """Samples (s, pi, z) for one optimizer step."""

    observations: Array
    """[B, C, H, W]"""
    policies: Array
    """[B, A] policy targets pi"""
    values: Array
    """[B] value targets z, -1 to 1, for the player to move; optionally mixed with search values"""
    auxiliary: Mapping[str, Target[Array]] = MappingProxyType({})
    """targets of the auxiliary heads, in the order of `network.auxiliary`"""

    def arrays(self) -> list[Array]:
        """Return all arrays in a fixed order, each with B rows."""
        targets = (array for target in self.auxiliary.values() for array in target)
        return [self.observations, self.policies, self.values, *targets]

    @classmethod
    def of_arrays(cls, arrays: Sequence[Array], heads: Iterable[str] = ()) -> "Batch[Array]":
        """Return the batch with these `arrays`, and targets for auxiliary `heads`."""
        observations, policies, values, *rest = arrays
        pairs = map(Target, rest[::2], rest[1::2])
        return cls(observations, policies, values, dict(zip(heads, pairs, strict=True)))
