"""The same seed gives the same bytes: on any number of threads, whatever BLAS does, in any process."""

import pytest

from processes import run

# 12,000 points: large enough for coarse maps and shared rounds.
FIT = """
import hashlib
import numpy as np
from sce import SCE
from sce.graph import vectors
vectors.BRUTE_FORCE_UP_TO_TERMS = 0  # approximate neighbours, as larger data have
rng = np.random.default_rng(0)
X = (rng.normal(size=(30, {d}))[rng.integers(30, size={n})] * 2 + rng.normal(size=({n}, {d}))).astype(np.float32)
for seed, affinity in {fits}:
    model = SCE(random_state=seed, n_epochs=6, n_jobs={n_jobs}, affinity=affinity, init="pca").fit(X)
    print(model.neighbor_method_, hashlib.sha256(model.embedding_.tobytes()).hexdigest())
"""


def test_same_bytes_on_any_threads_and_any_blas():
    """From X with approximate neighbours and a PCA start: n_jobs 1, 2, 4 and BLAS on 1 and 2 threads, each in a process."""
    results = {
        run(
            FIT.format(n=12_000, d=40, n_jobs=n_jobs, fits=[(5, "knn"), (5, "entropic")]),
            OPENBLAS_NUM_THREADS=blas,
            OMP_NUM_THREADS=blas,
        )
        for n_jobs, blas in [(1, "1"), (1, "2"), (2, "1"), (2, "2"), (4, "2")]
    }
    assert len(results) == 1
    assert [line.split()[0] for line in results.pop().splitlines()] == ["forest", "forest"]


def test_blas_threads_set_within_the_process():
    """threadpoolctl's limits, set by somebody else in the process, change nothing either."""
    import numpy as np
    from threadpoolctl import threadpool_limits

    from sce import SCE

    X = np.random.default_rng(1).normal(size=(5000, 30))
    maps = []
    for limit in (1, 2):
        with threadpool_limits(limit, user_api="blas"):
            maps.append(SCE(random_state=0, n_epochs=3).fit_transform(X).tobytes())
    assert maps[0] == maps[1]


def test_another_seed_gives_another_map():
    """Or the tests above would prove nothing."""
    one, other, again = run(FIT.format(n=3000, d=10, n_jobs=1, fits=[(5, "knn"), (6, "knn"), (5, "knn")])).splitlines()
    assert one == again != other


def test_fit_after_fork():
    """A child forked after a fit, and in the midst of threads, fits too, and gets the same bytes."""
    code = """
import hashlib, os, sys
import numpy as np
from sce import SCE
X = np.random.default_rng(0).normal(size=(2500, 8))
def fit():
    return hashlib.sha256(SCE(random_state=0, n_epochs=5, n_jobs=3).fit_transform(X).tobytes()).hexdigest()
first = fit()
read, write = os.pipe()
child = os.fork()
if child == 0:
    os.write(write, fit().encode())
    os._exit(0)
os.waitpid(child, 0)
print(os.read(read, 100).decode() == first == fit())
"""
    assert run("import warnings; warnings.simplefilter('ignore')\n" + code) == "True"


@pytest.mark.slow
def test_no_kernel_reads_or_writes_out_of_bounds(tmp_path):
    """A run with bounds checks compiled in: approximate neighbours, both affinities, point weights, three dimensions."""
    code = """
import numpy as np
from sce import SCE
rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 25))
w = rng.uniform(0.1, 3, 3000)
for options in ({}, {"affinity": "entropic", "n_components": 3}, {"init": "spectral"}):
    for weights in (None, w):
        assert np.isfinite(SCE(random_state=0, n_epochs=3, **options).fit(X, sample_weight=weights).embedding_).all()
import sce.graph.vectors as vectors
from sce.core.parallel import Team
from sce.graph.index import build_index
vectors.BRUTE_FORCE_UP_TO_TERMS = 0  # so that few rows, too, go through the forest
for metric in ("euclidean", "cosine", "manhattan"):
    assert SCE(random_state=0, n_epochs=1, metric=metric).fit(X).neighbor_method_ == "forest"
    assert build_index(X[:2900], metric=metric).query(X[2900:], 9, Team(1)).method == "forest"
print("ok")
"""
    assert run(code, NUMBA_BOUNDSCHECK="1", NUMBA_CACHE_DIR=str(tmp_path), timeout=900) == "ok"
