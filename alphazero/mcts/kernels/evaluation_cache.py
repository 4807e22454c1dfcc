"""The evaluation cache: a direct-mapped table of fixed size.

The key is a 64-bit hash of the observation and the legal actions. A new entry replaces the old one
at its index. With a million entries, about one lookup in 10^13 returns another position's
evaluation.

Letters: N entries, A actions, L the most legal ones, R rows of a batch, W 32-bit words of an
observation.
"""

from typing import NamedTuple

import numba
import numpy as np

from alphazero.utils.arrays import Float32Array, Int64Array, UInt32Array, UInt64Array
from alphazero.utils.bits import scramble
from alphazero.utils.jit import inline_kernel


class Cache(NamedTuple):
    """Evaluations keyed by the hash of their observation and legal actions."""

    keys: UInt64Array
    """[N] hash of each entry, 0 for none; N is a power of two, or 0 without a cache"""
    logits: Float32Array
    """[N, L] of the legal actions, in their order"""
    values: Float32Array
    """[N]"""
    row_keys: UInt64Array
    """[R] hashes of the batch under evaluation"""
    factors: UInt64Array
    """[W + A / 8, rounded up] random odd factors of the hash"""
    counts: Int64Array
    """[2] lookups and hits"""


def new_cache(megabytes: int, most_legal: int, rows: int, words: int) -> Cache:
    """Return an empty cache of at most `megabytes` MiB for `words` per position; 0 disables."""
    entry, places = 8 + 4 * most_legal + 4, 1
    while 2 * places * entry <= megabytes << 20:
        places *= 2
    entries = places if megabytes else 0
    return Cache(
        np.zeros(entries, np.uint64),
        np.zeros((entries, most_legal), np.float32),
        np.zeros(entries, np.float32),
        np.zeros(rows, np.uint64),
        np.random.default_rng(0).integers(2**64, size=words, dtype=np.uint64) | np.uint64(1),
        np.zeros(2, np.int64),
    )


CacheType = numba.typeof(new_cache(0, 1, 1, 1))


@inline_kernel
def hash_position(words: UInt32Array, mask_words: UInt64Array, factors: UInt64Array) -> int:
    """Return a hash, never 0, of an observation, 32-bit `words` [W], and of the legal actions.

    The sum of words times random `factors` [W] is multilinear hashing (Lemire & Kaser, *Strongly
    Universal String Hashing is Fast*, 2014). It takes several words per instruction. The float 1.0
    ends in 23 zero bits, which would cost a product as many, so its exponent is copied into them.
    """
    total = np.uint64(0)
    for index in range(len(words)):
        word = words[index]
        total += np.uint64(word ^ (word >> np.uint32(23))) * factors[index]
    for index in range(len(mask_words)):
        total += mask_words[index] * factors[len(words) + index]
    key = scramble(total)
    return key if key != 0 else np.uint64(1)  # type: ignore[return-value]


@inline_kernel
def get(cache: Cache, key: int) -> int:
    """Return the index of the cached evaluation, or -1."""
    if len(cache.keys) == 0:
        return -1
    place = key & np.uint64(len(cache.keys) - 1)
    cache.counts[0] += 1
    if cache.keys[place] != key:
        return -1
    cache.counts[1] += 1
    return np.int64(place)  # type: ignore[return-value]


@inline_kernel
def put(cache: Cache, key: int, logits: Float32Array, count: int, value: float) -> None:
    """Store an evaluation, `count` of `logits` and `value`; it replaces the entry at its index."""
    if len(cache.keys) > 0:
        place = key & np.uint64(len(cache.keys) - 1)
        cache.keys[place] = key
        for index in range(count):
            cache.logits[place, index] = logits[index]
        cache.values[place] = value
