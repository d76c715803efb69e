"""The mass of P between clusters: equal to a dense sum, on any number of threads."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from graphs import random_graph
from sce import InputError
from sce.core.parallel import Team
from sce.errors import GraphWarning
from sce.quality.mass import block_mass, check_graph, check_labels


@cache
def small_graph(weighted):
    """A graph of 30 points, made once."""
    return random_graph(30, weighted=weighted)


def slow_mass(P, labels):
    """Sums over blocks of the dense matrix, one pair of clusters at a time."""
    dense, count = P.toarray().astype(np.float64), max(labels) + 1
    total = dense.sum()
    mass = [[dense[np.ix_(labels == a, labels == b)].sum() / total for b in range(count)] for a in range(count)]
    volume = [dense[labels == a].sum() / total for a in range(count)]
    loose = sum((dense[i].sum() / total) ** 2 for i in np.flatnonzero(labels < 0))
    return np.array(mass).reshape(count, count), np.array(volume), loose


@given(st.lists(st.integers(-1, 4), min_size=30, max_size=30), st.booleans())
def test_a_dense_sum_gives_the_same(labels, weighted):
    """Masses, volumes and sizes equal sums over the dense matrix, with points in no cluster and empty clusters."""
    P, labels = small_graph(weighted), np.array(labels)
    blocks = block_mass(P, labels, Team(1))
    mass, volume, loose = slow_mass(P, labels)
    np.testing.assert_allclose(blocks.mass, mass, atol=1e-12)
    np.testing.assert_allclose(blocks.volume, volume, atol=1e-12)
    assert blocks.loose == pytest.approx(loose)
    assert list(blocks.sizes) == [int((labels == c).sum()) for c in range(max(labels) + 1)]


def test_threads_do_not_change_a_bit(graph):
    """The same bytes on one and three threads."""
    P, labels = graph(3000, weighted=True), np.random.default_rng(0).integers(-1, 7, 3000)
    one, three = (block_mass(P, labels, Team(k)) for k in (1, 3))
    assert all(np.array_equal(a, b) for a, b in zip(one, three, strict=True))


@given(st.lists(st.integers(-3, 50) | st.integers(10**9, 10**9 + 3), min_size=8, max_size=8))
def test_labels_are_numbered_in_their_order(labels):
    """Codes are the ranks of the labels in use; any negative label is -1; huge labels work, too."""
    codes, names = check_labels(labels, 8)
    assert [names[c] if c >= 0 else -1 for c in codes] == [max(label, -1) for label in labels]
    assert list(names) == sorted({label for label in labels if label >= 0})


@pytest.mark.parametrize(("labels", "words"), [([0, 1], "one number for each"), ([0.5, 1.0, 2.0], "whole numbers")])
def test_wrong_labels_are_refused_in_one_sentence(labels, words):
    """Too few labels, and labels that are not whole numbers."""
    with pytest.raises(InputError, match=words):
        check_labels(labels, 3)


def test_a_good_graph_is_used_as_it_is_and_another_repaired(graph):
    """A similarity graph comes back itself; one triangle of it comes back symmetric, with a warning."""
    P = graph(50)
    assert check_graph(P) is P
    with pytest.warns(GraphWarning, match="not symmetric"):
        repaired = check_graph(sp.triu(P, format="csr"))
    assert abs(repaired - repaired.T).max() == 0
