"""Counts and hashes of bits are those of Python's integers."""

import random

import numba
import numpy as np

from alphazero.utils.bits import GOLDEN_GAMMA, count_bits, mix_hash, scramble


@numba.njit
def counts_of(numbers):
    counts = np.zeros(len(numbers), np.int64)
    for index in range(len(numbers)):
        counts[index] = count_bits(numbers[index])
    return counts


@numba.njit
def hash_of(words):
    key = GOLDEN_GAMMA
    for index in range(len(words)):
        key = mix_hash(key, words[index])
    return key


@numba.njit
def scrambled(numbers):
    found = np.zeros_like(numbers)
    for index in range(len(numbers)):
        found[index] = scramble(numbers[index])
    return found


def numbers(bits: int) -> list[int]:
    dice = random.Random(1)
    powers = [1 << bit for bit in range(bits)]
    return [0, (1 << bits) - 1, *powers, *(dice.getrandbits(bits) for _ in range(1000))]


def test_set_bits_are_counted():
    for bits, kind in ((64, np.uint64), (63, np.int64)):
        wanted = [number.bit_count() for number in numbers(bits)]
        assert counts_of(np.array(numbers(bits), kind)).tolist() == wanted


def test_a_hash_is_that_of_plain_integers():
    for kind in (np.uint64, np.int64, np.uint32):
        words = np.array(numbers(32), np.uint64).astype(kind)
        words[-1] = np.iinfo(kind).max
        key = 0x9E3779B97F4A7C15
        for word in words.tolist():
            key = (key ^ word) * 0xBF58476D1CE4E5B9 % 2**64
            key ^= key >> 29
        assert int(hash_of(words)) == key
    negative = np.array([-1, -5], np.int64)
    assert hash_of(negative) == hash_of(negative.view(np.uint64))


def test_scrambled_numbers_are_the_output_of_splitmix64():
    # The first outputs for seed 1234567 in the reference implementation (Vigna, splitmix64.c).
    seed, step = 1234567, 0x9E3779B97F4A7C15
    states = [(seed + step * number) % 2**64 for number in (1, 2, 3)]
    assert scrambled(np.array(states, np.uint64)).tolist() == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
    ]
