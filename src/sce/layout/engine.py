"""Where the sampler's laps run: the protocol between the layout and an engine.

An engine opens a session on a problem. A session keeps the coordinates wherever it likes, in this process, on the workers of a
cluster or on a GPU, until it is asked for them; coordinates go in and out in the order of the data. Each engine decides how to
divide the work: the threads of this machine work on blocks (:mod:`sce.layout.sampler.blocks`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from sce.layout.problem import Problem


class Lap(NamedTuple):
    """One pass of the sampler over the whole graph: a part of an epoch, or all of it."""

    number: int  # counted from 0, over all epochs
    steps: float  # attractive draws in it, in the mean
    n_repulsive: float  # repulsive draws per attractive one
    attraction: np.float32  # 2 eta
    repulsion: np.float32  # 2 eta r / n_repulsive
    limit: np.float32  # the longest push along an axis
    key: np.uint64  # of the random numbers


class Outcome(NamedTuple):
    """What laps did: sums over the pairs drawn, and the state of the coordinates after the last one."""

    sum_q_P: float  # of q over attractive pairs
    sum_log: float  # of -ln q over attractive pairs
    count_P: float  # attractive pairs drawn
    sum_q_U: float  # of q over repulsive pairs
    count_U: float  # repulsive pairs drawn
    finite: bool  # whether all coordinates are finite
    square: float  # |Y|^2; NaN unless asked for
    moved: float  # |Y - Y_before|^2; NaN unless asked for


class Session(Protocol):
    """One run: coordinates that laps move."""

    def run(self, laps: Sequence[Lap], *, measure: bool = False) -> Outcome:
        """Run laps one after another; with `measure`, also report how far the coordinates moved."""

    def coordinates(self) -> np.ndarray:
        """The present coordinates, (n, d) float32, in the order of the data; a copy."""

    def close(self) -> None:
        """Release what the session holds."""


class Engine(Protocol):
    """A place where laps run.

    Attributes
    ----------
    reproducible : bool
        Whether the same problem gives the same bytes as on the threads of one machine.
    """

    reproducible: bool

    def open(self, problem: Problem, start: np.ndarray, coordinates: np.ndarray | None = None) -> Session:
        """Begin a run.

        Parameters
        ----------
        problem : Problem
            The graph, point weights and seed.
        start : ndarray of shape (n, d), float32
            Where the run began; an engine may order the points by it.
        coordinates : ndarray of shape (n, d), float32, optional
            Where an interrupted run continues; `start` by default.
        """
