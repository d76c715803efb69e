"""A layout that was stopped goes on from plain arrays, in another process, and ends with the same bytes."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

from layouts import make_problem
from processes import run as run_python
from sce.core.parallel import Team
from sce.engines.threads import ThreadEngine
from sce.errors import InputError
from sce.layout.lay_out import lay_out
from sce.layout.records import Watch
from sce.layout.scale import FixedScale, SCEScale
from sce.layout.settings import LayoutOptions
from sce.layout.state import State

RESUME = """
import hashlib, json, sys
import numpy as np, scipy.sparse as sp
from sce.core.parallel import Team
from sce.engines.threads import ThreadEngine
from sce.layout.settings import LayoutOptions
from sce.layout.problem import Problem
from sce.layout.lay_out import lay_out
from sce.layout.scale import FixedScale, SCEScale
from sce.layout.similarities import Similarities
from sce.layout.state import State

P = sp.load_npz("P.npz")
weights = np.load("weights.npy")
options = LayoutOptions({rule}, **{options})
for name in json.loads(sys.argv[1]) if len(sys.argv) > 1 else {names}:
    with Team({n_jobs}) as team, np.load(name) as arrays:
        problem = Problem(Similarities(P, team), weights if weights.size else None, 3)
        layout = lay_out(problem, options, ThreadEngine(team), state=State.from_arrays(dict(arrays), options.rule))
    digest = hashlib.sha256(layout.Y.tobytes() + repr((layout.r, layout.history, layout.stop_reason)).encode())
    print(digest.hexdigest())
"""


def knitted(n, seed=0):
    """A weighted ring with random chords, so large that it has coarse levels."""
    rng = np.random.default_rng(seed)
    i = np.arange(n)
    rows, columns = np.concatenate([i, i, i]), np.concatenate([(i + 1) % n, (i + 2) % n, rng.integers(n, size=n)])
    A = sp.csr_matrix((rng.uniform(0.5, 2.0, 3 * n), (rows, columns)), (n, n))
    A = sp.lil_matrix(A + A.T)
    A.setdiag(0)
    A = sp.csr_matrix(A)
    return sp.csr_matrix(A / A.sum(), dtype=np.float32)


def digest(layout):
    """As the fresh process prints it."""
    import hashlib

    text = repr((layout.r, layout.history, layout.stop_reason)).encode()
    return hashlib.sha256(layout.Y.tobytes() + text).hexdigest()


@pytest.mark.parametrize(
    ("n", "rule", "weighted", "options"),
    [
        (1500, "SCEScale(0.1)", False, {"n_components": 2, "n_epochs": 10}),
        (1500, "FixedScale(200.0)", True, {"n_components": 3, "n_epochs": 10, "tol": 0.01}),
        (900, "SCEScale(0.5)", False, {"optimizer": "sampler", "n_epochs": 12, "n_components": 1, "tol": 1e-9}),
    ],
)
def test_goes_on_with_the_same_bytes(tmp_path, n, rule, weighted, options):
    """Stopped after every stage, amid a coarse, a sampler and a gradient stage: a fresh process ends where one run does."""
    P = knitted(n)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, n) if weighted else None
    chosen = LayoutOptions(eval(rule), **options)
    kept: list[str] = []
    kinds: list[tuple[str, bool, bool]] = []
    last = [0, 0]

    def checkpoint(make):
        state = make()
        amid = state.inside is not None
        last[1] = last[1] + 1 if [state.position] == last[:1] else 1
        last[0] = state.position
        if not amid or last[1] in (3, 8):
            name = f"state_{len(kept)}.npz"
            np.savez(tmp_path / name, **state.to_arrays())
            kept.append(name)
            stage = state.plan[min(state.position, len(state.plan) - 1)]
            kinds.append((stage.kind, stage.level > 0, amid))

    with Team(2) as team:
        problem = make_problem(P, team, weights, seed=3)
        whole = lay_out(problem, chosen, ThreadEngine(team), watch=Watch(checkpoint=checkpoint))
    assert ("sampler", False, True) in kinds
    if "optimizer" not in options:
        both = True, False
        assert {("sampler", True, amid) for amid in both} <= set(kinds)
        assert {("gradient", coarse, amid) for coarse in both for amid in both} <= set(kinds)
    sp.save_npz(tmp_path / "P.npz", P)
    np.save(tmp_path / "weights.npy", np.empty(0) if weights is None else weights)
    code = RESUME.format(rule=rule, options=options, names=json.dumps(kept), n_jobs=3)
    assert set(run_python(code, cwd=tmp_path).split()) == {digest(whole)}


def test_a_state_is_plain(tmp_path):
    """Arrays of numbers and one text, which no pickle is needed for; another round through them changes nothing."""
    options = LayoutOptions(SCEScale(0.1), n_epochs=5)
    states = []
    with Team(1) as team:
        problem = make_problem(knitted(1200), team)
        lay_out(problem, options, ThreadEngine(team), watch=Watch(checkpoint=lambda make: states.append(make())))
    for state in states[:: max(1, len(states) // 10)]:
        arrays = state.to_arrays()
        np.savez(tmp_path / "state.npz", **arrays)
        with np.load(tmp_path / "state.npz", allow_pickle=False) as loaded:
            again = State.from_arrays(dict(loaded), options.rule)
        assert again.plan == state.plan
        assert repr(again.history) == repr(state.history)
        for name, array in again.to_arrays().items():
            np.testing.assert_array_equal(array, arrays[name])


def test_other_arrays_are_refused():
    """In a sentence."""
    with pytest.raises(InputError, match="not the state of a layout"):
        State.from_arrays({"Y": np.zeros((3, 2))}, FixedScale(1.0))
