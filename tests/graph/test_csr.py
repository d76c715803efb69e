"""The one toolkit for sparse rows, against scipy and NumPy."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from sce.core.parallel import Team
from sce.errors import InputError
from sce.graph import csr
from sce.graph.csr import CSR, arrays_of, check_similarities, components, entry_rows, merge_points, row_sums, transpose

graphs = st.tuples(st.integers(1, 40), st.floats(0.0, 0.3), st.integers(0, 99))


def random_graph(n, density, seed):
    """A symmetric graph without a diagonal."""
    half = sp.triu(sp.random(n, n, density, random_state=seed), 1)
    return sp.csr_matrix(half + half.T, dtype=np.float32)


@given(graphs, st.integers(1, 3))
def test_row_sums(graph, n_jobs):
    """Those of NumPy, on any number of threads."""
    P = random_graph(*graph)
    with Team(n_jobs) as team:
        np.testing.assert_allclose(row_sums(arrays_of(P), team), P.toarray().sum(axis=1, dtype=float), rtol=1e-6)


@given(st.integers(1, 30), st.integers(1, 30), st.floats(0.0, 0.3), st.integers(0, 99), st.integers(1, 3))
def test_rows_of_entries_and_transposes(n, columns, density, seed, n_jobs):
    """As scipy has them; the rows of a transpose are ascending."""
    A = sp.csr_matrix(sp.random(n, columns, density, random_state=seed), dtype=np.float32)
    with Team(n_jobs) as team:
        turned = transpose(arrays_of(A), columns, team)
    expected = A.T.tocsr()
    expected.sort_indices()
    assert all((a == b).all() for a, b in zip(turned, arrays_of(expected), strict=True))
    assert (entry_rows(A.indptr) == A.tocoo().row).all()


def test_transposes_of_lists():
    """Places without a neighbour (-1) are left out, and lists without weights have none."""
    lists = CSR(np.array([0, 2, 4]), np.array([1, -1, 0, 1], np.int32), np.empty(0, np.float32))
    turned = transpose(lists, 2, Team(1))
    assert (turned.indptr.tolist(), turned.indices.tolist(), turned.data.size) == ([0, 1, 3], [1, 0, 1], 0)


def test_positions_are_64_bit():
    """Counts and positions beyond 2^31 are right: rows x k of a large set does not fit 32 bits."""
    many = 2**31 + 5
    counts = np.array([0, 0, many, 0])
    csr._count_columns(np.array([1, 1], np.int32), counts)
    assert counts[2] == many + 2
    ids = np.broadcast_to(np.int32(1), many)  # as many entries, which take four bytes
    lists = CSR(np.array([0, 0, 0, 2]) + (many - 2), ids, np.broadcast_to(np.float32(1), many))
    turned = CSR(np.array([0, 0, 2, 2]), np.full(2, -1, np.int32), np.zeros(2, np.float32))
    csr._fill_transposed(lists, turned, 0, 3)
    assert turned.indices.tolist() == [2, 2]
    assert turned.data.tolist() == [1, 1]


@given(graphs)
def test_components_are_those_of_scipy(graph):
    """Numbered by their first points."""
    P = random_graph(*graph)
    found = components(arrays_of(P))
    count, expected = connected_components(P, directed=False)
    assert found.max(initial=-1) + 1 == count
    firsts = [np.flatnonzero(found == k)[0] for k in range(count)]
    assert firsts == sorted(firsts)
    assert len(set(zip(found.tolist(), expected.tolist(), strict=True))) == count


@given(graphs, st.integers(1, 4))
def test_components_within_groups(graph, n_groups):
    """As if edges between groups were not there."""
    P = random_graph(*graph)
    group = np.random.default_rng(graph[2]).integers(0, n_groups, P.shape[0]).astype(np.int32)
    rows = entry_rows(P.indptr)
    within = P.copy()
    within.data = within.data * (group[rows] == group[P.indices])
    within.eliminate_zeros()
    np.testing.assert_array_equal(components(arrays_of(P), group), components(arrays_of(within)))


@given(graphs, st.booleans(), st.integers(1, 3))
def test_merged_points_add_up(graph, inside, n_jobs):
    """The sums of all blocks of P; the diagonal only if asked for."""
    P = random_graph(*graph)
    n = P.shape[0]
    group = np.unique(np.random.default_rng(graph[2]).integers(0, n, n), return_inverse=True)[1].astype(np.int32)
    count = int(group.max()) + 1
    member = np.eye(count)[group]
    expected = member.T @ P.toarray().astype(float) @ member
    if not inside:
        np.fill_diagonal(expected, 0.0)
    with Team(n_jobs) as team:
        merged = merge_points(arrays_of(P), group, count, team, inside=inside)
    found = sp.csr_matrix((merged.data, merged.indices, merged.indptr), (count, count))
    assert found.nnz == np.count_nonzero(expected)
    np.testing.assert_allclose(found.toarray(), expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("P", "message"),
    [
        (np.ones((3, 2)), r"must be a square matrix, one row and column per point; got shape \(3, 2\)"),
        (np.array([["a"]]), "must hold real numbers"),
        (np.array([[0, np.nan], [1, 0]]), "1 are not finite, in rows 0"),
        (np.array([[0, np.inf], [np.inf, 0]]), "2 are not finite, in rows 0, 1"),
        (np.array([[0, -1], [-1, 0]]), "2 are negative, in rows 0, 1; for distances use metric='precomputed'"),
    ],
)
def test_what_is_no_similarity_graph_is_refused(P, message):
    """In a sentence that names the rows."""
    with pytest.raises(InputError, match=message):
        check_similarities(P)


def test_indices_beyond_the_matrix_are_refused():
    """A kernel would follow them."""
    P = sp.csr_matrix(np.eye(3))
    P.indices[0] = 7
    with pytest.raises(InputError, match="broken sparse matrix"):
        check_similarities(P)
