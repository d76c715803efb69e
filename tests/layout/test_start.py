"""Starting coordinates."""

import numpy as np
import pytest
import scipy.sparse as sp

from layouts import make_problem
from sce.core.parallel import Team
from sce.errors import InputError, ParameterError
from sce.layout.similarities import Similarities
from sce.layout.start import spectral_start, spread, starting_points


@pytest.fixture
def team():
    with Team(2) as team:
        yield team


def test_random_start_is_the_papers(graph, team):
    """y ~ N(0, 10^-4)."""
    Y = starting_points(make_problem(graph(4000), team, seed=0), "random", 2, None)
    assert Y.dtype == np.float32
    assert Y.std() == pytest.approx(0.01, rel=0.03)
    assert abs(Y.mean()) < 1e-3


@pytest.mark.parametrize("init", ["random", "pca", "spectral"])
def test_starts_depend_on_the_seed_and_not_on_threads(graph, init):
    """The same seed gives the same bytes on 1 and 3 threads, another seed others."""
    P = graph(3000)
    X = np.random.default_rng(0).normal(size=(3000, 5))
    with Team(1) as one, Team(3) as three:
        Y = starting_points(make_problem(P, one, seed=0), init, 2, X)
        assert np.array_equal(Y, starting_points(make_problem(P, three, seed=0), init, 2, X))
        assert not np.array_equal(Y, starting_points(make_problem(P, one, seed=1), init, 2, X))


def test_pca_start_survives_far_outliers(graph, team):
    """One point a million times farther out than the rest does not squeeze the rest together."""
    X = np.random.default_rng(0).normal(size=(500, 4))
    X[7] *= 1e6
    Y = starting_points(make_problem(graph(500), team, seed=0), "pca", 2, X)
    assert np.percentile(Y, 75, axis=0).min() > 0.5
    assert np.percentile(Y, 25, axis=0).max() < -0.5


def test_pca_start_follows_the_longest_axis(graph, team):
    """The first coordinate is the order along the direction of most variance."""
    t = np.linspace(-1, 1, 400)
    X = np.outer(t, [3.0, 4.0]) + 0.001 * np.random.default_rng(0).normal(size=(400, 2))
    Y = starting_points(make_problem(graph(400), team, seed=0), "auto", 2, X)
    assert abs(np.corrcoef(Y[:, 0], t)[0, 1]) > 0.99


def test_fewer_columns_than_components_leave_noise_for_the_rest(graph, team):
    """One column embeds in three dimensions; constant data too."""
    Y = starting_points(make_problem(graph(50), team, seed=0), "pca", 3, np.arange(50.0)[:, None])
    assert Y[:, 0].std() == pytest.approx(1.0, rel=0.05)
    assert 0 < Y[:, 1:].std() < 0.02
    Y = starting_points(make_problem(graph(50), team, seed=0), "pca", 2, np.ones((50, 2)))
    assert 0 < Y.std() < 0.02


def test_spectral_start_separates_two_loosely_tied_halves(graph, team):
    """On two dense halves with one edge between them, the first axis tells them apart."""
    A, B = graph(60, degree=8), graph(60, degree=8, seed=1)
    P = sp.block_diag([A, B]).tolil()
    P[0, 60] = P[60, 0] = A.data[0]
    P = sp.csr_matrix(P)
    U = spectral_start(Similarities(sp.csr_matrix(P / P.sum()), team), 2, 0)
    sides = U[:, 0] > np.median(U[:, 0])
    assert abs(sides[:60].mean() - sides[60:].mean()) > 0.9


def test_spectral_start_bears_components_and_isolated_points(team):
    """Three components and a point without an edge: finite coordinates, each component together."""
    P = sp.lil_matrix((7, 7))
    for i, j in [(0, 1), (2, 3), (4, 5)]:
        P[i, j] = P[j, i] = 1 / 6
    U = spectral_start(Similarities(sp.csr_matrix(P), team), 2, 0)
    assert np.isfinite(U).all()
    assert np.abs(U[[0, 2, 4]] - U[[1, 3, 5]]).max() < 1e-6


def test_a_given_start_is_copied_and_unchanged(graph, team):
    """The array itself is not touched."""
    given = np.random.default_rng(0).normal(size=(20, 2))
    Y = starting_points(make_problem(graph(20), team, seed=0), given, 2, None)
    np.testing.assert_array_equal(Y, given.astype(np.float32))
    assert not np.shares_memory(Y, given)


def test_ranks_of_equal_values_are_equal():
    """Ties share a rank; a constant column becomes zeros."""
    Z = spread(np.array([[1.0, 5], [1.0, 5], [3.0, 5]]))
    assert Z[0, 0] == Z[1, 0] < Z[2, 0]
    assert (Z[:, 1] == 0).all()


@pytest.mark.parametrize(
    ("init", "error", "message"),
    [
        (
            "pca",
            ParameterError,
            'init="pca" needs vectors, and X is a graph or distances here; use "spectral" or "random".',
        ),
        (np.zeros((3, 2)), InputError, "init must have the shape (20, 2) of the embedding; it has (3, 2)."),
        (
            np.full((20, 2), np.nan),
            InputError,
            "init has NaN or infinity in 20 rows, the first of them row 0; replace them.",
        ),
        (
            np.full((20, 2), 1e9),
            InputError,
            "init has coordinates beyond 1e+06, too far out to recover; centre and scale it.",
        ),
        (
            np.ones((20, 2)),
            InputError,
            "init puts all points in one spot, where no force can separate them; add a little noise to it.",
        ),
        (
            [["a", "b"]] * 20,
            InputError,
            "init must be the name of a start or an array of numbers; it is neither.",
        ),
    ],
)
def test_bad_starts_are_refused_in_a_sentence(graph, team, init, error, message):
    """Each with what is wrong and what to do."""
    with pytest.raises(error) as caught:
        starting_points(make_problem(graph(20), team, seed=0), init, 2, None)
    assert str(caught.value) == message
