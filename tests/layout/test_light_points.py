"""Points of almost no weight under t-SNE's rule."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from sce import SCE
from sce.errors import InputError
from sce.layout.light_points import expected_weights, refuse_light_points
from sce.layout.scale import FixedScale, SCEScale, SNEScale


def ring(n):
    """Each point is joined to the next."""
    return sparse.csr_matrix(np.roll(np.eye(n), 1, axis=1) + np.roll(np.eye(n), -1, axis=1)) / (2 * n)


def half(light, n=40):
    """Half of the points are light; the mean is 1."""
    w = np.where(np.arange(n) < n // 2, light, 1.0)
    return w / w.mean()


@pytest.mark.parametrize("rule", [SNEScale(), SCEScale(alpha=0.0), SNEScale(exaggeration=1.5)])
@pytest.mark.parametrize(("light", "what"), [(0.0, "zero"), (1e-7, "at most 1e-06 of its mean")])
def test_refused(rule, light, what):
    """A sentence says in how many rows, and what to do."""
    with pytest.raises(InputError, match=f"^sample_weight is {what} in 20 rows: .*drop these rows, .*alpha above 0"):
        refuse_light_points(rule, ring(40), half(light))


@pytest.mark.parametrize("rule", [SCEScale(), SCEScale(alpha=0.01), FixedScale(1e4), SNEScale(exaggeration=4.0)])
def test_other_rules_have_a_minimum(rule):
    """Their r is bounded, or the attraction strong enough."""
    refuse_light_points(rule, ring(40), half(0.0))


def test_a_single_light_point_passes():
    """It moves the rest of a large map only a little."""
    w = np.ones(400)
    w[7] = 0
    refuse_light_points(SNEScale(), ring(400), w * 400 / 399)


@pytest.mark.parametrize("weights", [None, half(1e-2), half(0.5), np.random.default_rng(0).exponential(size=40)])
def test_ordinary_weights_pass(weights):
    """Weights that differ by a few powers of ten are no reason to refuse."""
    refuse_light_points(SNEScale(), ring(40), weights)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from([0.0, 1e-9, 1e-4, 0.05, 1.0]), min_size=4, max_size=12), st.floats(0.5, 4))
def test_equals_twin(weights, beta):
    """The share of P at light points, by looking at each edge."""
    w = np.array([*weights, 1.0])
    w /= w.mean()
    P = ring(len(w)).toarray()
    for limit, r in expected_weights(sparse.csr_matrix(P), w, beta):
        share = sum(
            P[i, j]
            for i in range(len(w))
            for j in range(len(w))
            if (max(w[i], w[j]) <= limit if limit else min(w[i], w[j]) == 0)
        )
        pairs = (sum(v for v in w if v <= limit) / w.sum()) ** 2
        drive = min(1, 1 / beta) - (1 - share)
        if share < 0.01 or drive < 1e-12:
            assert r == 0 or drive > -1e-12  # rounding
        else:
            np.testing.assert_allclose(r, drive / pairs if pairs else np.inf, rtol=1e-6)


@pytest.mark.parametrize("parameters", [{"scale": "sne"}, {"alpha": 0.0}])
@pytest.mark.parametrize("light", [0.0, 1e-6])
def test_a_fit_is_refused(parameters, light, mixture):
    """Before the layout; SCE's rule takes the same weights."""
    X, w = mixture(200, 5), half(light, 200)
    with pytest.raises(InputError, match=r"^sample_weight is .* in 100 rows"):
        SCE(random_state=0, n_jobs=1, **parameters).fit(X, sample_weight=w)
    model = SCE(random_state=0, n_jobs=1, alpha=0.05).fit(X, sample_weight=w)
    assert model.scale_ <= 1 / 0.05 * 1.5
    assert np.isfinite(model.embedding_).all()


def test_a_fit_with_tiny_weights_converges(mixture):
    """Just within the bound, r is large but the map is found."""
    model = SCE(random_state=0, n_jobs=1, scale="sne").fit(mixture(200, 5), sample_weight=half(1e-3, 200))
    assert model.scale_ < 1e10
    assert "iterations done" not in model.stop_reason_
