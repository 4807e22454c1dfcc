"""The samples of one optimizer step.

Letters: B batch, A actions, [C, H, W] observation.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from alphazero.utils.arrays import Float32Array


class Target(NamedTuple):
    """The target of one auxiliary head for B positions."""

    values: Float32Array
    """[B, ...] for the player to move, see `target_shapes`"""
    weights: Float32Array
    """[B] 1 where the target is known, else 0"""


class Batch(NamedTuple):
    """Samples (s, pi, z) for one optimizer step."""

    observations: Float32Array
    """[B, C, H, W]"""
    policies: Float32Array
    """[B, A] policy targets pi"""
    values: Float32Array
    """[B] value targets z, for the player to move; optionally mixed with search values"""
    auxiliary: Mapping[str, Target] = MappingProxyType({})
    """targets of the auxiliary heads, in the order of `network.auxiliary`"""

    def arrays(self) -> list[Float32Array]:
        """Return all arrays in a fixed order, each with B rows."""
        targets = (array for target in self.auxiliary.values() for array in target)
        return [self.observations, self.policies, self.values, *targets]

    @classmethod
    def of_arrays(cls, arrays: Sequence[Float32Array], heads: Iterable[str] = ()) -> "Batch":
        """Return the batch with these `arrays`, and targets for auxiliary `heads`."""
        observations, policies, values, *rest = arrays
        pairs = map(Target, rest[::2], rest[1::2])
        return cls(observations, policies, values, dict(zip(heads, pairs, strict=True)))
