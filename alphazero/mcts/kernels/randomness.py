"""Random numbers from the state of a slot, so that its result does not depend on other slots."""

import math

import numpy as np

from alphazero.mcts.kernels.tree import Trees
from alphazero.utils.bits import GOLDEN_GAMMA, scramble
from alphazero.utils.jit import inline_kernel


@inline_kernel
def _random_bits(trees: Trees, slot: int) -> np.uint64:
    """Return the slot's next 64 random bits: SplitMix64 (Steele, Lea & Flood, OOPSLA 2014)."""
    bits = trees.slots[slot].random + GOLDEN_GAMMA
    trees.slots[slot].random = bits
    return scramble(bits)


@inline_kernel
def random_below(trees: Trees, slot: int, limit: int) -> int:
    """Return the slot's next random integer in [0, `limit`), for `limit` < 2^32.

    The high 32 bits are scaled, with a bias of at most `limit` / 2^32 (Lemire, *Fast random integer
    generation in an interval*, 2019, without the rejection step).
    """
    bits = _random_bits(trees, slot)
    return np.int64(((bits >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32))  # type: ignore[return-value]


@inline_kernel
def _count_legal(word: np.uint64) -> int:
    """Return how many of eight actions are legal: the sum of the bytes of a `word` of the mask."""
    return np.int64(word * np.uint64(0x0101010101010101) >> np.uint64(56))  # type: ignore[return-value]


@inline_kernel
def random_legal(trees: Trees, slot: int, count: int) -> int:
    """Return one of the `count` legal actions of `trees.mask`, all equally likely."""
    place, word = random_below(trees, slot, count), 0
    while place >= _count_legal(trees.mask_words[word]):
        place -= _count_legal(trees.mask_words[word])
        word += 1
    action = 8 * word
    while place > 0 or not trees.mask[action]:
        place -= trees.mask[action]
        action += 1
    return action


@inline_kernel
def random_unit(trees: Trees, slot: int) -> float:
    """Return the slot's next random number in [0, 1), a multiple of 2^-53."""
    return float(_random_bits(trees, slot) >> np.uint64(11)) * 2.0**-53


@inline_kernel
def random_gumbel(trees: Trees, slot: int) -> float:
    """Return a draw from the standard Gumbel distribution."""
    return -math.log(-math.log(random_unit(trees, slot) + 2.0**-54))


@inline_kernel
def random_gamma(trees: Trees, slot: int, alpha: float) -> float:
    """Return a draw from the gamma distribution of shape `alpha` > 0 and scale 1.

    Marsaglia & Tsang, *A Simple Method for Generating Gamma Variables* (2000), with section 6 for
    `alpha` < 1; its normal draws are those of Box & Muller (1958).
    """
    boost = 1.0
    if alpha < 1:
        boost = (1 - random_unit(trees, slot)) ** (1 / alpha)
        alpha += 1
    d = alpha - 1 / 3
    c = 1 / math.sqrt(9 * d)
    while True:
        radius = math.sqrt(-2 * math.log(1 - random_unit(trees, slot)))
        x = radius * math.cos(2 * math.pi * random_unit(trees, slot))
        v = (1 + c * x) ** 3
        if v > 0:
            bound = x * x / 2 + d - d * v + d * math.log(v)
            if math.log(1 - random_unit(trees, slot)) < bound:
                return d * v * boost
