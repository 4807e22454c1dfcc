"""Kernels that count and hash the bits of integers."""

import numpy as np

from alphazero.utils.jit import inline_kernel

GOLDEN_GAMMA = np.uint64(0x9E3779B97F4A7C15)
"""The increment of SplitMix64, 2^64 divided by the golden ratio; also the hash of no words."""


@inline_kernel
def count_bits(number: int | np.uint64) -> int:
    """Count the set bits of a uint64 or a non-negative int64 (Warren, *Hacker's Delight*, 5-1)."""
    bits = np.uint64(number)
    bits -= (bits >> np.uint64(1)) & np.uint64(0x5555555555555555)
    pairs = np.uint64(0x3333333333333333)
    bits = (bits & pairs) + ((bits >> np.uint64(2)) & pairs)
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((bits * np.uint64(0x0101010101010101)) >> np.uint64(56))  # type: ignore[return-value]


@inline_kernel
def lowest_bit(bits: np.uint64) -> int:
    """Return the number of the lowest set bit of a uint64, from 0 on; 64 for none."""
    return count_bits((bits & (~bits + np.uint64(1))) - np.uint64(1))


@inline_kernel
def mix_hash(key: np.uint64, word: int) -> np.uint64:
    """Add a word to a hash that starts with GOLDEN_GAMMA; the multiplier is that of `scramble`."""
    key = (key ^ np.uint64(word)) * np.uint64(0xBF58476D1CE4E5B9)
    return key ^ (key >> np.uint64(29))


@inline_kernel
def scramble(bits: np.uint64) -> np.uint64:
    """Return the finalizer of SplitMix64, a bijection (Steele, Lea & Flood, OOPSLA 2014)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
