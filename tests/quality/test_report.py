"""The report: every figure that is possible, and a sentence for each that is not."""

import numpy as np
import pytest

from sce import SCE, Map
from sce.quality import assess
from sce.quality.report import MEANINGS, figure_lines


@pytest.fixture(scope="module")
def planted():
    """Three clouds far apart, their classes, and a map of them."""
    y = np.repeat([0, 1, 2], 60)
    X = np.random.default_rng(0).normal(size=(180, 4)) + 30.0 * y[:, None]
    return X, y, SCE(random_state=0).fit(X)


def test_a_planted_partition_is_found_whole(planted):
    """The graph has three components: all of P is inside the clusters, and they are the classes."""
    X, y, model = planted
    figures = assess(model, X=X, classes=y).figures()
    assert figures["n_clusters"] == 3
    assert figures["share"] == pytest.approx(1.0)
    assert figures["share_null"] == pytest.approx(3 * 60 * 59 / (180 * 179), abs=0.03)
    assert figures["modularity"] == pytest.approx(2 / 3, abs=0.01)
    assert figures["conductance"] == pytest.approx(0.0, abs=1e-9)
    assert figures["ami"] == pytest.approx(1.0)
    assert figures["accuracy"] == 1.0


@pytest.mark.parametrize("columns", [2, 5])
def test_noise_has_no_clusters(columns):
    """A map of noise shows clusters, because it has to tear the square somewhere; P says that none is real."""
    X = np.random.default_rng(0).uniform(size=(900, columns))
    assert assess(SCE(random_state=0).fit(X), X=X).figures()["n_real"] == 0


def test_says_what_is_missing_and_gives_the_rest(planted):
    """Without data, graph or classes the figures that need them are left out, and a sentence says so."""
    X, y, model = planted
    bare = assess(model.embedding_)
    assert set(bare.figures()) == {"n_clusters", "covered"}
    assert [sentence.split()[0] for sentence in bare.missing] == ["Neighbours", "Edges", "Agreement"]
    with_data = assess(model.embedding_, X=X, classes=y)
    assert with_data.missing == ["Edges kept and clusters against P need the graph."]
    assert "neighbors_kept" in with_data.figures()


def test_takes_what_a_map_or_a_model_holds(planted):
    """The graph of a model and the graph and data of a map are used as if they were given."""
    X, _, model = planted
    given = assess(model.embedding_, X=X, P=model.affinity_)
    assert assess(Map.from_model(model, P=model.affinity_, X=X)).figures() == given.figures()
    assert assess(model, X=X).figures() == given.figures()


def test_judges_the_labels_that_are_given(planted):
    """Shuffled labels have the figures of chance."""
    _, y, model = planted
    drawn = np.random.default_rng(0).permutation(y)
    figures = assess(model, labels=drawn).figures()
    assert figures["share"] == pytest.approx(figures["share_null"], abs=0.05)
    assert abs(figures["modularity"]) < 0.05


def test_every_figure_has_a_meaning_and_a_line(planted):
    """No figure is shown without an explanation."""
    X, y, model = planted
    figures = assess(model, X=X, classes=y).figures()
    shown = [name for name in figures if not name.endswith("_null")]
    assert set(shown) <= set(MEANINGS)
    assert [line.split()[0] for line in figure_lines(figures)] == shown
    assert "if relabelled" in str(assess(model, X=X))
