"""The sweep over r in Python."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import sce
from sce import SCE, InputError, ParameterError
from sce.clusters.hdbscan import find_clusters
from sce.layout import objective
from sce.quality.classes import label_accuracy
from sce.quality.in_graph import clusters_in_graph
from sce.quality.neighbors import edges_kept
from sce.sweeping import _crossing

X, CLASSES = make_blobs(200, 5, centers=4, cluster_std=2.0, random_state=0)


@pytest.fixture(scope="module")
def family():
    """A sweep over seven r, with its graph."""
    return sce.sweep(X, np.arange(0, 7), labels=CLASSES, affinity="knn", random_state=0, keep_graph=True)


def test_a_map_for_each_r(family):
    """Frames in rising order of r, float32, each a minimum at its own r: no other frame is better there."""
    assert family.frames.shape == (7, 200, 2)
    assert family.frames.dtype == np.float32
    np.testing.assert_allclose(family.r, 10.0 ** np.arange(0, 7))
    J = [[objective.objective(family.P, Y, r) for Y in family.frames] for r in family.r]
    assert (np.argmin(J, axis=1) == np.arange(7)).all()


def test_marks_are_where_sce_and_tsne_end(family):
    """Near the r of an estimator of its own; SCE's lies below t-SNE's; the frames named are the nearest."""
    for name, scale in (("SCE", "sce"), ("t-SNE", "sne")):
        model = SCE(affinity="knn", scale=scale, random_state=0).fit(X)
        assert family.marks[name].r == pytest.approx(model.scale_, rel=0.2)
        assert family.marks[name].frame == np.argmin(np.abs(family.log10_r - np.log10(family.marks[name].r)))
    assert family.marks["SCE"].r < family.marks["t-SNE"].r


def test_figures_are_those_of_the_frames(family):
    """The terms of J by all pairs, and the figures of sce.quality."""
    for k in (0, 6):
        Y, P = family.frames[k], family.P
        means = objective.means(P, Y)
        found = {name: values[k] for name, values in family.figures.items()}
        assert found["attraction"] == pytest.approx(means.attraction, rel=1e-4)
        assert found["mean_q_P"] == pytest.approx(means.q_P, rel=1e-4)
        assert found["mean_q_U"] == pytest.approx(means.q_U, rel=1e-3)
        assert found["size"] == pytest.approx(Y.std())
        assert found["edges_kept"] == edges_kept(P, Y)
        assert found["accuracy"] == label_accuracy(Y, CLASSES)
        inside = clusters_in_graph(P, find_clusters(Y), n_null=5).figures()
        assert {name: found[name] for name in ("n_clusters", "share", "share_null")}.items() <= inside.items()


def test_the_same_seed_gives_the_same_sweep_on_any_number_of_threads(family):
    """Bit for bit."""
    again = sce.sweep(X, np.arange(0, 7), labels=CLASSES, affinity="knn", random_state=0, n_jobs=1)
    assert (again.frames == family.frames).all()
    assert again.marks == family.marks
    for name, values in family.figures.items():
        np.testing.assert_array_equal(again.figures[name], values)
    assert again.P is None


def test_over_alpha():
    """alpha rises, r falls; alpha = 0 is t-SNE, and the alpha of the model is SCE's mark."""
    found = sce.sweep(X, alphas=[1.0, 0.0, 0.5], alpha=0.5, random_state=0)
    assert found.alphas.tolist() == [0.0, 0.5, 1.0]
    assert (np.diff(found.log10_r) < 0).all()
    assert (found.marks["t-SNE"].frame, found.marks["SCE"].frame) == (0, 1)
    assert found.marks["t-SNE"].r == pytest.approx(found.r[0], rel=0.05)
    assert found.marks["SCE"].r == pytest.approx(found.r[1], rel=0.05)


def test_afresh_gives_what_sce_gives():
    """Each map nearly, up to a rotation, which is chosen so that neighbours match."""
    found = sce.sweep(X, [0.5, 1.0], afresh=True, random_state=0)
    model = SCE(scale=10.0, random_state=0).fit(X)
    distances = [np.linalg.norm(Y[::7, None] - Y[None, ::7], axis=2) for Y in (found.frames[1], model.embedding_)]
    assert np.corrcoef(*(d.ravel() for d in distances))[0, 1] > 0.95
    assert found.facts["afresh"]
    first, second = found.frames
    cross = (second.T @ first).astype(np.float64)
    np.testing.assert_allclose(
        cross, cross.T, rtol=1e-3, atol=1e-3 * np.abs(cross).max()
    )  # no rotation brings them nearer


def test_labels_that_are_no_classes_have_no_accuracy():
    """Numbers, one class only, and classes that nobody expects to see; missing ones are left out."""
    small, options = X[:60], {"random_state": 0, "n_epochs": 5}
    for labels, score in ((X[:60, 0], True), (np.zeros(60, int), True), (CLASSES[:60], False), (None, True)):
        assert "accuracy" not in sce.sweep(small, [1], labels=labels, score_labels=score, **options).figures
    words = np.where(CLASSES[:60] > 1, "many", "few").astype(object)
    words[::2] = None
    found = sce.sweep(small, [1], labels=words, **options)
    assert found.figures["accuracy"][0] == label_accuracy(found.frames[0][1::2], words[1::2].astype(str))


def test_a_graph_and_weights():
    """X may be the graph; rows may stand for many points."""
    P = SCE(n_epochs=1, random_state=0).fit(X).affinity_
    plain = sce.sweep(P, [1, 2], affinity="precomputed", random_state=0)
    heavy = sce.sweep(P, [1, 2], affinity="precomputed", random_state=0, sample_weight=1.0 + CLASSES)
    assert plain.frames.shape == heavy.frames.shape == (2, 200, 2)
    assert (plain.frames != heavy.frames).any()
    assert plain.parameters["affinity"] == "precomputed"


@pytest.mark.parametrize("n", [2, 3, 12])
def test_few_points(n):
    """Are no trouble."""
    rows = np.random.default_rng(0).normal(size=(n, 3))
    assert np.isfinite(sce.sweep(rows, [0, 2], random_state=0).frames).all()


def test_a_seed_is_kept_where_none_is_given():
    """So that the sweep can be repeated."""
    found = sce.sweep(X[:60], [1], n_epochs=5)
    again = sce.sweep(X[:60], [1], n_epochs=5, random_state=found.parameters["random_state"])
    assert (found.frames == again.frames).all()


def test_what_means_nothing_is_refused():
    """In a sentence, before the work."""
    with pytest.raises(ParameterError, match="scale has no meaning in a sweep"):
        sce.sweep(X, scale="sne")
    with pytest.raises(ParameterError, match="varies log10_r or alphas, not both"):
        sce.sweep(X, [1], alphas=[0.5])
    for bad in ([], [np.nan], [31.0], "x", 3.0, [[1.0, 2.0]]):
        with pytest.raises(ParameterError, match="log10_r must be one or more numbers from -30 to 30"):
            sce.sweep(X, bad)
    with pytest.raises(ParameterError, match="alphas must be one or more numbers from 0 to 1"):
        sce.sweep(X, alphas=[0.5, 1.5])
    with pytest.raises(InputError, match="labels must have one value for each of the 200 points"):
        sce.sweep(X, [1], labels=CLASSES[:5])
    with pytest.raises(InputError, match="at least two points"):
        sce.sweep(X[:1], [1])
    with pytest.raises(ParameterError, match="n_neighbors"):
        sce.sweep(X, [1], n_neighbors=-1)


def test_maps_that_do_not_fit_in_memory_are_refused(monkeypatch):
    """Before the work, with their size."""
    monkeypatch.setattr("sce.sweeping.free_memory", lambda: 2**20)
    with pytest.raises(
        InputError, match=r"1000 maps of 200 points take 0\.0 GiB, but only 0\.0 GiB are free; use fewer maps"
    ):
        sce.sweep(X, np.linspace(0, 8, 1000))


def test_progress_is_a_line_a_map(capsys):
    """On standard error, when asked for."""
    sce.sweep(X[:60], [0, 1], n_epochs=5, random_state=0)
    assert capsys.readouterr().err == ""
    sce.sweep(X[:60], [0, 1], n_epochs=5, random_state=0, verbose=True)
    said = capsys.readouterr().err
    assert "Map 2 of 2: log10 r = 1 (" in said
    assert "t-SNE chooses r = " in said


def test_the_first_crossing_counts():
    """Later ones are where the map, not the rule, has brought the two together."""
    assert _crossing(np.array([1.0, 0.2, -0.3, 0.0001, -0.0001])) == 1
    assert _crossing(np.array([1.0])) == 0
