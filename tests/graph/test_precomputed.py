"""Similarity graphs given by the user."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from sce.errors import GraphWarning, InputError
from sce.graph.precomputed import check_affinity


def similarities(n=20, seed=0, density=0.3):
    """A symmetric sparse matrix of similarities with a diagonal."""
    rng = np.random.default_rng(seed)
    S = rng.random((n, n)) * (rng.random((n, n)) < density)
    return S + S.T


FORMS = [
    np.asarray,
    sparse.csr_matrix,
    sparse.csc_matrix,
    sparse.coo_matrix,
    sparse.lil_matrix,
    sparse.csr_array,
    sparse.dok_array,
]


@pytest.mark.parametrize("make", FORMS)
def test_every_form(make):
    """Each format gives the same P: no diagonal, sum 1, symmetric, sorted, float32; the input stays as it was."""
    S = similarities()
    given = make(S)
    before = given.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        P = check_affinity(given)
    expected = S - np.diag(np.diag(S))
    np.testing.assert_allclose(P.toarray(), expected / expected.sum(), rtol=1e-6)
    assert isinstance(P, sparse.csr_matrix)
    assert P.dtype == np.float32
    assert P.has_canonical_format
    assert (abs(given - before)).sum() == 0


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(2, 12), st.integers(0, 99), st.sampled_from([1e-300, 1e-40, 1.0, 1e40, 1e300]))
def test_any_size_of_values(n, seed, size):
    """Values of any size give a symmetric P with sum 1."""
    S = similarities(n, seed, 0.9) + np.ones((n, n))
    P = check_affinity(S * size).toarray()
    assert (P == P.T).all()
    assert abs(P.sum(dtype=float) - 1) < 1e-6
    np.testing.assert_allclose(P, check_affinity(S).toarray(), rtol=1e-6)


def test_what_it_made_comes_back_bit_for_bit(graph):
    """The graph of a fit, saved and given again, makes the same map; the caller's own is not handed out."""
    P = graph(60, weighted=True)
    once = check_affinity(3 * P)
    twice = check_affinity(once)
    assert (once != twice).nnz == 0
    assert not np.shares_memory(once.data, twice.data)
    lopsided = once.copy()
    lopsided.data[0] *= 2
    with pytest.warns(GraphWarning, match="not symmetric"):
        assert (check_affinity(lopsided) != lopsided).nnz > 0


def test_huge_diagonal_is_of_no_account():
    """A diagonal 10^300 times as large as the edges is dropped before anything vanishes."""
    S = np.array([[1e300, 1e-20], [1e-20, 1e300]])
    P = check_affinity(S)
    assert P.nnz == 2
    np.testing.assert_allclose(P.data, 0.5)


def test_edges_below_float32_are_dropped():
    """An edge that float32 cannot tell from zero is no edge: no explicit zeros remain."""
    S = np.array([[0, 1, 1e-60], [1, 0, 0], [1e-60, 0, 0]])
    P = check_affinity(S)
    assert P.nnz == 2


def test_double_entries_and_zeros():
    """Entries given twice are summed, explicit zeros dropped."""
    S = sparse.coo_matrix(([1.0, 2.0, 3.0, 0.0, 0.0], ([0, 0, 1, 0, 2], [1, 1, 0, 2, 0])), shape=(3, 3))
    P = check_affinity(S)
    assert P.nnz == 2
    assert P.toarray()[0, 1] == P.toarray()[1, 0] == 0.5


def test_asymmetric():
    """One that is not symmetric becomes (P + P') / 2, with a warning that counts."""
    S = np.array([[0.0, 4.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    with pytest.warns(GraphWarning, match=r"not symmetric \(2 entries"):
        P = check_affinity(S)
    np.testing.assert_allclose(P.toarray(), np.array([[0, 2, 0], [2, 0, 1], [0, 1, 0]]) / 6, rtol=1e-6)


def test_rounding_is_no_asymmetry():
    """Differences of float32 rounding give no warning, and an exactly symmetric P."""
    S = similarities().astype(np.float32)
    S[np.triu_indices(20)] *= np.float32(1 + 3e-7)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        P = check_affinity(S).toarray()
    assert (P == P.T).all()


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (np.ones((2, 3)), r"square matrix.*got shape \(2, 3\)"),
        (np.ones(4), r"square matrix.*got shape \(4,\)"),
        (np.array([[0, np.nan], [1, 0]]), "1 are not finite, in rows 0"),
        (np.array([[0, 1], [np.inf, 0]]), "1 are not finite, in rows 1"),
        (np.array([[0, -1.0], [-1.0, 0]]), r"2 are negative, in rows 0, 1; for distances use metric='precomputed'"),
        (np.eye(3), "no positive entry off its diagonal"),
        (np.zeros((3, 3)), "no positive entry off its diagonal"),
        (np.ones((2, 2)) * 1j, "real numbers; got complex128"),
        (np.array([["a", "b"], ["b", "a"]]), "real numbers; got <U1"),
        (sparse.csr_matrix(np.ones((2, 2)) * 1j), "real numbers; got complex128"),
        (sparse.csr_matrix(np.ones((2, 3))), r"square matrix.*got shape \(2, 3\)"),
    ],
)
def test_bad_graphs(graph, message):
    """Each mistake has its own sentence."""
    with pytest.raises(InputError, match=message):
        check_affinity(graph)
