"""The team of threads: shares work out, passes errors on, leaves nothing running."""

import os
import threading
import time

import numpy as np
import pytest

from sce.core.parallel import Team, available_cores, resolve_n_jobs
from sce.errors import ParameterError


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
@pytest.mark.parametrize("n", [0, 1, 3, 1000])
def test_every_piece_is_done_once(n_jobs, n):
    """split and sweep cover range(n) without gap or overlap."""
    with Team(n_jobs) as team:
        for method in (team.split, lambda f, n: team.sweep(f, n, 7)):
            done = np.zeros(n, int)

            def work(start, stop, done=done):
                done[start:stop] += 1

            method(work, n)
            assert (done == 1).all()


def test_errors_come_out_after_all_threads_have_stopped():
    """An exception in one thread is raised in the caller, and no thread works on."""
    running = threading.Semaphore(0)
    finished = []

    def work(start, _):
        if start == 0:
            raise ValueError("in a thread")
        time.sleep(0.05)
        finished.append(start)
        running.release()

    with Team(3) as team, pytest.raises(ValueError, match="in a thread"):
        team.split(work, 3)
    assert len(finished) == 2


def test_interrupt_in_the_calling_thread_waits_for_the_others():
    """Ctrl-C is raised when the other threads have ended, so that no memory is written behind the caller's back."""
    ended = []

    def work(start, stop):
        if stop == 2:
            raise KeyboardInterrupt
        time.sleep(0.1)
        ended.append(start)

    with Team(2) as team, pytest.raises(KeyboardInterrupt):
        team.split(work, 2)
    assert ended == [0]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_stops_a_sweep(error):
    """After an error in one piece, no thread takes another."""
    done = []

    def work(start, _):
        if start == 1:
            raise error
        time.sleep(0.02)
        done.append(start)

    with Team(2) as team, pytest.raises(error):
        team.sweep(work, 100, 1)
    assert len(done) < 5


def test_threads_end_with_the_team():
    """A team leaves no thread behind."""
    before = threading.active_count()
    with Team(4) as team:
        team.split(lambda *_: time.sleep(0.01), 4)
        assert threading.active_count() > before
    assert threading.active_count() == before


def test_n_jobs_as_in_scikit_learn():
    """None and -1 are all cores, -2 all but one, more than there are is allowed."""
    assert resolve_n_jobs(None) == resolve_n_jobs(-1) == available_cores()
    assert resolve_n_jobs(-2) == max(1, available_cores() - 1)
    assert resolve_n_jobs(1000) == 1000
    for bad in (0, True, 1.5, "two"):
        with pytest.raises(ParameterError, match="n_jobs must be"):
            resolve_n_jobs(bad)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="needs Linux")
def test_cores_are_those_this_process_may_use():
    """A process pinned to one core sees one."""
    mine = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(mine)})
    try:
        assert available_cores() == 1
    finally:
        os.sched_setaffinity(0, mine)
