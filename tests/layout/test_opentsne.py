"""The full gradient against openTSNE: where the family is t-SNE, both must find the same maps. Same P, same start."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

from layouts import descend, make_problem
from sce.core.parallel import Team
from sce.graph.build import GraphOptions, build_affinity
from sce.layout.divergence import divergence_constants
from sce.layout.gradient.terms import Gradient
from sce.layout.scale import FixedScale, SNEScale
from sce.layout.start import starting_points

openTSNE = pytest.importorskip("openTSNE", reason="compares with openTSNE, which is not installed")  # noqa: N816
pytestmark = pytest.mark.slow

EXAGGERATION = 12.0


@pytest.fixture(scope="module")
def digits():
    """P of perplexity 30, and a start along the principal axes."""
    X = load_digits().data
    with Team(2) as team:
        P = build_affinity(X, GraphOptions("entropic", perplexity=30.0), team, 0).P
        return P, starting_points(make_problem(P, team), "pca", 2, X)


def peer(P, start, late_exaggeration):
    """openTSNE's map, with its defaults: 250 iterations at exaggeration 12, then 500."""
    P = sp.csr_matrix(P.astype(np.float64))
    affinities = openTSNE.affinity.PrecomputedAffinities(P, normalize=False)
    first = 1e-4 * start.astype(np.float64) / start[:, 0].std()
    # One thread: on a busy machine two of its threads are slower than one.
    embedding = openTSNE.TSNEEmbedding(first, affinities, n_jobs=1, random_state=0)
    embedding = embedding.optimize(n_iter=250, exaggeration=EXAGGERATION, momentum=0.8)
    return np.array(embedding.optimize(n_iter=500, exaggeration=late_exaggeration, momentum=0.8))


@pytest.fixture(scope="module")
def exaggerated(digits):
    """The terms of J at openTSNE's map with exaggeration 12 throughout."""
    return terms(digits[0], peer(*digits, EXAGGERATION))


def terms(P, Y):
    """Of J, exactly."""
    with Team(2) as team:
        return Gradient(make_problem(P, team).graph, None, "exact")(np.asarray(Y, np.float64))


def run(P, start, rule):
    return terms(P, descend(P, rule, start).Y)


def kl(P, found):
    """D_KL(P || Q)."""
    with Team(1) as team:
        n_pairs, constant = divergence_constants(make_problem(P, team))
    return constant + found.attraction + math.log(found.mean_q_U * n_pairs)


def test_t_sne_is_no_worse(digits):
    """D_KL is at most 1 % above openTSNE's."""
    P, start = digits
    assert kl(P, run(P, start, SNEScale())) <= 1.01 * kl(P, terms(P, peer(P, start, 1.0)))


def test_exaggerated_t_sne_is_the_same(digits, exaggerated):
    """At exaggeration 12 both maps have the same E_U and the same attraction, within 3 %."""
    ours = run(*digits, SNEScale(EXAGGERATION))
    assert ours.mean_q_U == pytest.approx(exaggerated.mean_q_U, rel=0.03)
    assert ours.attraction == pytest.approx(exaggerated.attraction, rel=0.03)


def test_a_fixed_r_is_an_exaggeration(digits, exaggerated):
    """GSNE at r is t-SNE with exaggeration 1 / (r E_U): at that of openTSNE's map it has the same E_U, within 3 %."""
    r = 1.0 / (EXAGGERATION * exaggerated.mean_q_U)
    ours = run(*digits, FixedScale(r))
    assert ours.mean_q_U == pytest.approx(exaggerated.mean_q_U, rel=0.03)
    assert ours.attraction == pytest.approx(exaggerated.attraction, rel=0.03)
