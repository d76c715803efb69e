"""Counter-based random numbers: a draw is a pure function of a key and a counter.

There is no state, so no draw depends on earlier draws, on the thread or on the machine. The mixing function is the finaliser
of SplitMix64 (Steele, Lea and Flood, 2014). Each function works on NumPy's uint64 scalars and arrays as well as inside a
kernel, so the tests and the slow twins draw the very same numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sce.core.compiled import kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)
LOW = np.uint64(0xFFFFFFFF)


@kernel
def bits(key: Any, counter: Any) -> Any:
    """64 random bits: draw number `counter` of the stream `key` (both uint64)."""
    z = key + GOLDEN * (counter + np.uint64(1))
    z = (z ^ (z >> _S30)) * _MIX_1
    z = (z ^ (z >> _S27)) * _MIX_2
    return z ^ (z >> _S31)


@kernel
def below(random: Any, n: Any) -> Any:
    """An integer in [0, n) from the upper 32 of 64 random bits, for n up to 2^32."""
    return np.int64(((random >> _S32) * np.uint64(n)) >> _S32)


@kernel
def below_low(random: Any, n: Any) -> Any:
    """An integer in [0, n) from the lower 32 of 64 random bits, for n up to 2^32."""
    return np.int64(((random & LOW) * np.uint64(n)) >> _S32)


@kernel
def unit(random: Any) -> Any:
    """A float64 in [0, 1) from 64 random bits."""
    return np.float64(random >> np.uint64(11)) * (1.0 / 9007199254740992.0)


def stream(seed: int, name: str) -> np.uint64:
    """The key of a named stream of a seed: each use of randomness has its own name.

    Examples
    --------
    >>> int(stream(0, "blocks")) != int(stream(0, "start"))
    True
    """
    key = np.uint64(seed & 0xFFFFFFFFFFFFFFFF)
    with np.errstate(over="ignore"):
        for byte in name.encode():
            key = bits.py_func(key, np.uint64(byte))
    return key


def bits_array(key: np.uint64, n: int, first: int = 0) -> np.ndarray:
    """Draws `first`, ..., `first + n - 1` of a stream, as an array."""
    with np.errstate(over="ignore"):
        return bits.py_func(key, np.arange(first, first + n, dtype=np.uint64))


def normal_array(key: np.uint64, shape: tuple[int, ...]) -> np.ndarray:
    """Standard normal numbers (Box-Muller) of a stream, float64."""
    n = int(np.prod(shape))
    u = unit.py_func(bits_array(key, 2 * n).astype(np.uint64))
    radius = np.sqrt(-2.0 * np.log1p(-u[:n]))
    return (radius * np.cos(2.0 * np.pi * u[n:])).reshape(shape)


def permutation(key: np.uint64, n: int) -> np.ndarray:
    """A random order of 0, ..., n - 1 (int64): the order of n random keys, ties by number."""
    return np.argsort(bits_array(key, n), kind="stable")
