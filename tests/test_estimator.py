"""SCE as scikit-learn, pandas and polars users meet it, and its words for bad input."""

import pickle
import re
import threading
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs
from sklearn.metrics import adjusted_mutual_info_score
from sklearn.neighbors import KNeighborsTransformer, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from sce import (
    SCE,
    DataWarning,
    FixedScale,
    GraphWarning,
    InputError,
    ParameterError,
    SCEError,
    SCEScale,
    neighbors_graph,
)


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(400, 6, centers=4, cluster_std=0.7, random_state=3)


with warnings.catch_warnings():  # SCE has no base class of scikit-learn, which takes long to import
    warnings.filterwarnings("ignore", message=".*does not inherit from")
    all_checks = parametrize_with_checks([SCE(n_epochs=20)])


@all_checks
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_conventions(estimator, check):
    """Everything that scikit-learn asks of an estimator."""
    check(estimator)


def test_digits_form_their_clusters():
    """The ten digits are told apart in the map: nearly all nearest neighbours are of the same digit."""
    X, y = load_digits(return_X_y=True)
    Y = SCE(random_state=0).fit_transform(X)
    nearest = NearestNeighbors(n_neighbors=6).fit(Y).kneighbors(return_distance=False)
    assert (y[nearest] == y[:, None]).mean() > 0.93


def test_blobs_form_their_clusters(blobs):
    """Four well separated blobs are found by a clustering of the map."""
    from sklearn.cluster import HDBSCAN

    X, y = blobs
    for options in (
        {},
        {"affinity": "entropic"},
        {"init": "random"},
        {"n_components": 3},
        {"n_components": 1},
        {"scale": 5.0},
    ):
        Y = SCE(random_state=0, **options).fit_transform(X)
        found = HDBSCAN(min_cluster_size=20, copy=True).fit_predict(Y)
        assert adjusted_mutual_info_score(y, found) > 0.8, options


def test_learned_attributes(blobs):
    """All that the documentation promises is there after a fit."""
    model = SCE(random_state=0, n_epochs=12, optimizer="sampler").fit(blobs[0])
    assert model.embedding_.shape == (400, 2)
    assert model.embedding_.dtype == np.float32
    assert model.affinity_.sum() == pytest.approx(1.0, abs=1e-5)
    assert abs(model.affinity_ - model.affinity_.T).max() == 0
    assert model.scale_ == model.history_["r"][-1]
    assert set(model.history_) == {"epoch", "loss", "r", "learning_rate", "change"}
    assert model.n_epochs_ == len(model.history_["loss"]) == 12
    assert model.stop_reason_ == "all epochs done"
    assert model.neighbor_method_ == "brute force"
    assert model.neighbor_recall_ == 1.0
    assert model.n_features_in_ == 6


def test_pipeline_pandas_clone_and_pickle(blobs):
    """In a pipeline with pandas output; a clone and a pickle give the same map."""
    X = pd.DataFrame(blobs[0], columns=list("abcdef"))
    pipeline = make_pipeline(StandardScaler(), SCE(random_state=1, n_epochs=10)).set_output(transform="pandas")
    frame = pipeline.fit_transform(X)
    assert list(frame.columns) == ["sce0", "sce1"]
    model = pipeline[-1]
    assert list(model.feature_names_in_) == list("abcdef")
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.embedding_, model.embedding_)
    np.testing.assert_array_equal(clone(pipeline).fit_transform(X), frame)


def test_data_frames_by_set_output_and_configuration(blobs):
    """pandas, polars or arrays, as the model or scikit-learn's configuration says; the model learns as ever."""
    X = blobs[0]
    model = SCE(random_state=1, n_epochs=10)
    Y = model.fit_transform(X)
    frame = model.set_output(transform="pandas").fit_transform(pd.DataFrame(X, index=np.arange(400) + 7))
    assert list(frame.columns) == ["sce0", "sce1"] == list(model.get_feature_names_out())
    assert frame.index[0] == 7
    np.testing.assert_array_equal(frame, Y)
    np.testing.assert_array_equal(model.embedding_, Y)
    assert isinstance(clone(model).fit_transform(X), pd.DataFrame)
    assert isinstance(model.set_output(transform="default").fit_transform(X), np.ndarray)
    with sklearn.config_context(transform_output="polars"):
        assert isinstance(SCE(random_state=1, n_epochs=10).fit_transform(X), pl.DataFrame)


def test_sample_weights_are_routed(blobs):
    """A pipeline passes weights on where scikit-learn's routing is enabled."""
    X, weight = blobs[0], np.linspace(1.0, 2.0, 400)
    with sklearn.config_context(enable_metadata_routing=True):
        model = SCE(random_state=1, n_epochs=10).set_fit_request(sample_weight=True)
        routed = make_pipeline(Normalizer(), model).fit(X, sample_weight=weight)[-1].embedding_
    expected = SCE(random_state=1, n_epochs=10).fit(Normalizer().fit_transform(X), sample_weight=weight)
    np.testing.assert_array_equal(routed, expected.embedding_)


def test_parameters_and_text():
    """Unknown names change nothing; the text has what differs from the defaults; notebooks show it, too."""
    model = SCE(alpha=0.5, init=np.zeros((1000, 2)))
    with pytest.raises(ParameterError, match=r"Invalid parameter 'perplexty' for SCE; did you mean 'perplexity'\?"):
        model.set_params(alpha=0.2, perplexty=3)
    assert model.alpha == 0.5
    assert repr(model).startswith("SCE(alpha=0.5, init=array(")
    assert repr(SCE(alpha=0.05)) == "SCE()"
    assert "alpha" in model._repr_mimebundle_()["text/html"]


@pytest.mark.parametrize("options", [{}, {"n_components": 1}, {"affinity": "precomputed"}, {"alpha": 0.5}])
def test_a_fitted_model_shows_its_map(options, blobs):
    """In a notebook: a picture, what differs from the defaults, and what was learned; the text is that of the model."""
    model = SCE(random_state=0, n_epochs=5, **options)
    X = SCE(random_state=0, n_epochs=1).fit(blobs[0]).affinity_ if "affinity" in options else blobs[0]
    shown = model.fit(X)._repr_mimebundle_()
    assert shown["text/plain"] == repr(model)
    page = shown["text/html"]
    assert page.count("data:image/png;base64,") == 1
    assert f"{X.shape[0]} in {model.n_components} dimension" in page
    assert "n_epochs=5, " in page
    assert f"{model.scale_:.4g}" in page
    assert model.stop_reason_ in page
    assert (">perplexity<" in page) == ("affinity" not in options)
    assert "alpha=0.5" in page or "alpha" not in options


def test_rule_objects_survive_clone_and_pickle():
    """A rule object as parameter is a value like any other."""
    model = SCE(scale=SCEScale(0.3, forgetting="paper"))
    assert clone(model).scale == pickle.loads(pickle.dumps(model)).scale == model.scale


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int64, np.uint8])
def test_number_types(dtype, blobs):
    """Floats and integers of any size; the input stays as it was."""
    X = np.round(10 * (blobs[0] + 20)).clip(0, 255).astype(dtype)
    before = X.copy()
    Y = SCE(random_state=0, n_epochs=5).fit_transform(X)
    assert np.isfinite(Y).all()
    np.testing.assert_array_equal(X, before)


def test_frames_give_the_same_map_as_arrays(blobs):
    """NumPy, pandas, polars, Fortran order, lists and a read-only array: the same bytes."""
    X = blobs[0]
    locked = X.copy()
    locked.setflags(write=False)
    expected = SCE(random_state=0, n_epochs=5).fit_transform(X)
    for same in (pd.DataFrame(X), pl.DataFrame(X, schema=list("abcdef")), np.asfortranarray(X), X.tolist(), locked):
        np.testing.assert_array_equal(SCE(random_state=0, n_epochs=5).fit_transform(same), expected)


def test_given_graph_equals_found_graph(blobs):
    """P put back in as "precomputed", sparse or dense, gives the same map from the same start; and a factor does not matter."""
    model = SCE(random_state=0, n_epochs=10, init="spectral").fit(blobs[0])
    P = model.affinity_
    for given in (P, P.toarray(), sp.csr_array(P), P.tocoo()):
        again = SCE(random_state=0, n_epochs=10, affinity="precomputed").fit(given)
        np.testing.assert_array_equal(again.embedding_, model.embedding_)
    assert abs(SCE(n_epochs=1, affinity="precomputed").fit(P * 1000).affinity_ - P).max() < 1e-6 * P.max()
    by_function = SCE(random_state=0, n_epochs=10, affinity=lambda _: P, init="spectral").fit(blobs[0])
    np.testing.assert_array_equal(by_function.embedding_, model.embedding_)


@pytest.mark.parametrize("affinity", ["knn", "entropic"])
def test_given_distances_equal_found_distances(blobs, affinity):
    """Distances put in dense, as KNeighborsTransformer makes them, or as (indices, distances): the same graph."""
    X = blobs[0]
    k = 15
    options = {"random_state": 0, "n_epochs": 3, "init": "random", "affinity": affinity, "n_neighbors": k}
    expected = SCE(**options).fit(X).affinity_
    distances, indices = NearestNeighbors(n_neighbors=k).fit(X).kneighbors()
    dense = np.linalg.norm(X[:, None] - X[None], axis=2)
    for given in (
        dense,
        KNeighborsTransformer(n_neighbors=k).fit_transform(X),
        neighbors_graph(indices, distances),
    ):
        found = SCE(metric="precomputed", **options).fit(given).affinity_
        assert abs(found - expected).max() < 1e-6


@pytest.mark.parametrize("metric", ["cosine", "correlation", "manhattan", "chebyshev", "braycurtis"])
def test_metrics(blobs, metric):
    """Neighbours by other metrics are those of a search by scikit-learn."""
    X = blobs[0]
    P = SCE(affinity="knn", metric=metric, n_neighbors=5, n_epochs=2, random_state=0).fit(X).affinity_
    nearest = NearestNeighbors(n_neighbors=5, metric=metric, algorithm="brute").fit(X).kneighbors(return_distance=False)
    assert all((P[i, nearest[i]].toarray() > 0).all() for i in range(len(X)))


def test_sparse_vectors_are_not_densified():
    """A sparse X so wide that it could not be densified is embedded."""
    rng = np.random.default_rng(0)
    n, width = 1500, 3_000_000  # 36 GB if it were dense
    columns = np.concatenate([np.arange(n) % 4, rng.integers(width, size=3 * n)])
    X = sp.csr_matrix((np.ones(4 * n), (np.tile(np.arange(n), 4), columns)), (n, width))
    assert np.isfinite(SCE(random_state=0, n_epochs=2).fit_transform(X)).all()


def test_weights_change_the_map_and_equal_weights_do_not(blobs):
    """Equal weights of any size are no weights."""
    X = blobs[0]
    plain = SCE(random_state=0, n_epochs=5).fit_transform(X)
    np.testing.assert_array_equal(
        SCE(random_state=0, n_epochs=5).fit_transform(X, sample_weight=np.full(400, 3.0)), plain
    )
    w = np.linspace(0.1, 5, 400)
    assert not np.array_equal(SCE(random_state=0, n_epochs=5).fit_transform(X, sample_weight=w), plain)


def test_two_fits_in_two_threads(blobs):
    """Fits side by side give what they give alone."""
    X = np.vstack([blobs[0]] * 6) + np.random.default_rng(0).normal(size=(2400, 6))
    alone = SCE(random_state=0, n_epochs=20, n_jobs=2).fit_transform(X)
    results = [None] * 3

    def fit(k):
        results[k] = SCE(random_state=0, n_epochs=20, n_jobs=2).fit_transform(X)

    threads = [threading.Thread(target=fit, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        np.testing.assert_array_equal(result, alone)


def test_missing_cells_of_any_kind_are_refused():
    """None in a list, NA in nullable columns and null in polars are missing values, not numbers."""
    rows = [[float(k), float(k % 7)] for k in range(40)]
    rows[5][0] = None
    nullable = pd.DataFrame({"a": pd.array([1, None] * 20, dtype="Int64"), "b": np.arange(40.0)})
    for X in (rows, nullable, pl.DataFrame({"a": [1, None] * 20, "b": np.arange(40.0)})):
        with pytest.raises(InputError, match="X has NaN"):
            SCE().fit(X)


def test_repeated_sparse_entries_add_up(blobs):
    """As scipy means them; the input keeps them."""
    X = sp.csr_matrix(blobs[0])
    twice = sp.csr_matrix((np.repeat(X.data, 2) / 2, np.repeat(X.indices, 2), X.indptr * 2), X.shape)
    options = {"random_state": 0, "n_epochs": 2, "init": "random"}
    assert abs(SCE(**options).fit(twice).affinity_ - SCE(**options).fit(X).affinity_).max() == 0
    assert twice.nnz == 2 * X.nnz


def test_broken_sparse_matrices_are_refused():
    """Indices that point outside would be followed by kernels into other memory."""
    P = sp.csr_matrix(np.ones((20, 20)))
    P.indices[3] = 10**6
    for options in ({"affinity": "precomputed"}, {"metric": "precomputed"}, {}):
        with pytest.raises(InputError, match="broken sparse matrix"):
            SCE(**options).fit(P)


def test_a_fit_that_fails_leaves_the_estimator_as_it_was(blobs):
    """The learned attributes still belong together."""
    model = SCE(random_state=0, n_epochs=2).fit(pd.DataFrame(blobs[0], columns=list("abcdef")))
    with pytest.raises(ParameterError):
        model.set_params(metric="nonsense").fit(blobs[0][:, :3])
    assert model.n_features_in_ == 6
    model.set_params(metric="euclidean", affinity="precomputed").fit(model.affinity_)
    assert model.n_features_in_ == 400
    assert not hasattr(model, "feature_names_in_")


def test_interrupt_leaves_everything_usable(blobs):
    """Ctrl-C in the middle of a refit: the last fit is still there, and the next one works."""
    X = blobs[0]
    model = SCE(random_state=0, n_epochs=10).fit(X)
    before = model.embedding_.copy()

    def interrupt(epoch, *_):
        if epoch == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.set_params(callback=interrupt).fit(X)
    np.testing.assert_array_equal(model.embedding_, before)
    np.testing.assert_array_equal(model.set_params(callback=None).fit_transform(X), before)


def test_silent_unless_verbose(blobs, capfd):
    """Nothing is printed by default; verbose shows stages, loss and r on standard error, a line each if nobody watches."""
    SCE(random_state=0, n_epochs=3).fit(blobs[0])
    assert capfd.readouterr() == ("", "")
    for optimizer, said in {
        "sampler": r"Layout: 3 epochs, loss ",
        "auto": r"Layout: 3 epochs and \d+ iterations, loss",
        "gradient": r"Layout: \d+ iterations, loss",
    }.items():
        SCE(random_state=0, n_epochs=3, verbose=True, optimizer=optimizer).fit(blobs[0])
        out, err = capfd.readouterr()
        assert out == ""
        for part in ("neighbours by brute force, recall 1.000", r"Start \(", said, ", r "):
            assert re.search(part, err)


GOOD = np.random.default_rng(0).normal(size=(30, 3))


def with_value(value, *cells):
    X = GOOD.copy()
    for cell in cells:
        X[cell] = value
    return X


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (
            with_value(np.nan, (4, 1), (17, 0)),
            {},
            "X has NaN or infinity (inf) in 2 of 30 rows: 4, 17; drop these rows or fill the gaps, for example with "
            "sklearn.impute.SimpleImputer.",
        ),
        (
            sp.csr_matrix(with_value(np.inf, (29, 2))),
            {},
            "X has NaN or infinity (inf) in 1 of 30 rows: 29; drop these rows or fill the gaps, for example with "
            "sklearn.impute.SimpleImputer.",
        ),
        (np.empty((0, 3)), {}, "X has no rows (its shape is (0, 3)); give at least one point."),
        (
            GOOD[:, 0],
            {},
            "X must be 2-D, a row for each point; it is 1-D with the shape (30,). Reshape your data with X.reshape(-1, 1) if "
            "it is one column.",
        ),
        (
            np.array([["1", "2"], ["3", "four"]]),
            {},
            "X has text where numbers are needed: column 1, row 1 holds 'four'; drop the column or turn it into numbers.",
        ),
        (
            pd.DataFrame({"a": [1.0, 2.0], "name": ["x", "y"]}),
            {},
            "X has text in column 'name', where numbers are needed: leave it out, X.drop(columns=['name']), or turn it into "
            "numbers, for example with sklearn.preprocessing.OneHotEncoder.",
        ),
        (
            pl.DataFrame({"a": [1.0, 2.0], "name": ["x", "y"]}),
            {},
            "X has text in column 'name', where numbers are needed: leave it out, X.drop('name'), or turn it into numbers, for "
            "example with sklearn.preprocessing.OneHotEncoder.",
        ),
        (
            pd.DataFrame({"a": [1.0, 2.0], "kind": pd.Categorical(["x", "y"])}),
            {},
            "X has categories in column 'kind', where numbers are needed: leave it out, X.drop(columns=['kind']), or turn it "
            "into numbers, for example with sklearn.preprocessing.OneHotEncoder.",
        ),
        (
            pd.DataFrame({"a": [1.0, 2.0], "when": pd.to_datetime(["2020-01-01", None])}).astype(
                {"when": "datetime64[ns]"}
            ),
            {},
            "X has dates or durations in column 'when', where numbers are needed: leave it out, X.drop(columns=['when']), "
            "or turn it into numbers.",
        ),
        (
            np.ma.masked_greater(GOOD, 1.0),
            {},
            "X has masked values; fill them, for example with X.filled(value), or drop their rows.",
        ),
        (GOOD, {"callback": 3}, "callback must be a function (epoch, Y, r, loss); got 3."),
        (
            GOOD,
            {"random_state": -1},
            "random_state must be None, a whole number from 0 to 2**32 - 1 or a numpy.random.RandomState; got -1.",
        ),
        (
            GOOD,
            {"affinity": lambda _: np.ones((7, 7))},
            "The affinity function gave a graph of 7 points for the 30 rows of X.",
        ),
        (
            np.ones((3, 3), dtype=complex),
            {"affinity": "precomputed"},
            "X must be a square matrix of real numbers; its type is complex128.",
        ),
        (GOOD, {"alpha": 1.5}, "alpha must be a number from 0 to 1; got 1.5."),
        (GOOD, {"n_components": 4}, "n_components must be 1, 2 or 3; got 4."),
        (GOOD, {"n_epochs": 0}, "n_epochs must be a whole number, 1 or more; got 0."),
        (GOOD, {"n_epochs": "many"}, "n_epochs must be a whole number, 1 or more; got 'many'."),
        (GOOD, {"n_repulsive": 1.5}, "n_repulsive must be a whole number, 1 or more; got 1.5."),
        (GOOD, {"tol": -1}, 'tol must be "auto" or a number, 0 or more; got -1.'),
        (GOOD, {"optimizer": "sgd"}, "optimizer must be one of auto, sampler, gradient; got 'sgd'."),
        (
            GOOD,
            {"learning_rate": 0},
            'learning_rate must be "auto", a number above 0, at most 100, which falls to 0 along the run, or a pair '
            "(first, last); got 0.",
        ),
        (
            GOOD,
            {"n_jobs": 0},
            "n_jobs must be None, a positive number, or -1 for all cores, -2 for all but one; got 0.",
        ),
        (
            GOOD,
            {"engine": "gpu"},
            "engine must be \"threads\" or an object with open(problem, start, coordinates); got 'gpu'.",
        ),
        (
            GOOD,
            {"affinity": "precomputed"},
            "X is precomputed and must be a square matrix with a row and a column for each point; its shape is (30, 3).",
        ),
    ],
)
def test_bad_input_is_refused_in_a_sentence(X, options, message):
    """What is wrong, where, and what to do; always a ValueError of ours."""
    with pytest.raises(SCEError) as error:
        SCE(**options).fit(X)
    assert str(error.value) == message
    assert isinstance(error.value, ValueError)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(3), "Sample weights must be 1D array, one for each of the 30 rows; the shape is (3,)."),
        (-np.ones(30), "sample_weight must be finite and not negative; in row 0 it is -1.0."),
        (
            np.zeros(30),
            "sample_weight is above zero in fewer than two rows, so nothing is pushed apart; give at least two rows a weight.",
        ),
        (
            np.r_[np.ones(29), 1e30],
            "sample_weight of row 29 far outweighs all other rows together, so nothing else is pushed apart; lower it.",
        ),
        (["a"] * 30, "sample_weight must be an array of numbers."),
    ],
)
def test_bad_weights_are_refused_in_a_sentence(weights, message):
    """Of the wrong length, negative, all zero, or no numbers."""
    with pytest.raises(InputError) as error:
        SCE().fit(GOOD, sample_weight=weights)
    assert str(error.value) == message


@pytest.mark.parametrize("options", [{"metric": "euclidian"}, {"affinity": "kmn"}, {"scale": "tsne"}])
def test_unknown_names_are_refused(options):
    """Misspelt names are not guessed at."""
    with pytest.raises(ParameterError, match=next(iter(options.values()))):
        SCE(**options).fit(GOOD)


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_bad_similarities_are_refused(value):
    """Negative or not finite."""
    P = np.ones((5, 5))
    P[1, 2] = P[2, 1] = value
    with pytest.raises(InputError, match="row"):
        SCE(affinity="precomputed").fit(P)


def test_no_nan_leaves_the_library(blobs):
    """A layout that leaves the range of numbers, here by an engine that breaks down, is an error."""
    from sce.core.parallel import Team
    from sce.engines.threads import ThreadEngine, ThreadSession

    class Broken(ThreadEngine):
        def open(self, problem, start, coordinates=None):
            broken = start.copy()
            broken[7] = np.nan
            return ThreadSession(Team(1), problem, start, broken)

    with pytest.raises(SCEError, match="diverged in epoch 1; lower learning_rate or scale"):
        SCE(random_state=0, engine=Broken(Team(1))).fit(blobs[0])


@pytest.mark.parametrize(
    ("X", "options", "warning"),
    [
        (GOOD[:1], {}, None),
        (GOOD[:2], {}, None),
        (GOOD[:8], {}, None),
        (GOOD[:8], {"n_neighbors": 15}, DataWarning),
        (np.ones((50, 3)), {}, DataWarning),
        (np.repeat(GOOD, 40, axis=0), {}, DataWarning),
        (np.ones((50, 3)), {"affinity": "entropic", "perplexity": 5}, DataWarning),
        (np.eye(40) + np.eye(40, k=1) + np.eye(40, k=-1) - 1.0 * (np.arange(40) == 39), {"affinity": "knn"}, None),
        (sp.block_diag([np.ones((2, 2))] * 100), {"affinity": "precomputed"}, GraphWarning),
        (sp.block_diag([np.ones((30, 30)), np.zeros((3, 3))]), {"affinity": "precomputed"}, GraphWarning),
        (np.triu(np.ones((9, 9))), {"affinity": "precomputed"}, GraphWarning),
    ],
)
def test_odd_data_are_embedded_with_a_warning_where_due(X, options, warning):
    """Few rows, constant rows, copies, many components, isolated points, lop-sided graphs: a finite map."""
    if warning is None:
        Y = SCE(random_state=0, n_epochs=5, **options).fit_transform(X)
    else:
        with pytest.warns(warning):
            Y = SCE(random_state=0, n_epochs=5, **options).fit_transform(X)
    assert Y.shape == (X.shape[0], 2)
    assert np.isfinite(Y).all()


def test_engines_are_interchangeable(blobs):
    """An engine of one's own gets the problem and the laps, and its coordinates are the result."""
    from sce.core.parallel import Team
    from sce.engines.threads import ThreadEngine

    opened = []

    class Counting(ThreadEngine):
        def open(self, problem, start, coordinates=None):
            opened.append(problem.n_points)
            return super().open(problem, start, coordinates)

    expected = SCE(random_state=0, n_epochs=5).fit_transform(blobs[0])
    np.testing.assert_array_equal(
        SCE(random_state=0, n_epochs=5, engine=Counting(Team(1))).fit_transform(blobs[0]), expected
    )
    assert opened == [400]


def test_scale_rules_by_parameter(blobs):
    """A number is that r; rule objects carry more."""
    X = blobs[0]
    assert SCE(scale=3.0, n_epochs=3, random_state=0).fit(X).scale_ == 3.0
    assert SCE(scale=FixedScale(3.0), n_epochs=3, random_state=0).fit(X).scale_ == 3.0
    sne = SCE(scale="sne", n_epochs=3, random_state=0).fit(X).scale_
    assert SCE(scale="sne", exaggeration=4.0, n_epochs=3, random_state=0).fit(X).scale_ < sne


@pytest.mark.parametrize("n", [8, 12, 16, 20, 24])
def test_few_rows_make_a_map_all_the_same(n):
    """Two groups of a few rows lie apart, not on one spot."""
    rng = np.random.default_rng(0)
    group = np.arange(n) % 2
    X = rng.normal(size=(n, 50)) + 3 * group[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        Y = SCE(random_state=0).fit_transform(X)
    centres = np.array([Y[group == g].mean(axis=0) for g in (0, 1)])
    radius = max(np.linalg.norm(Y[group == g] - centres[g], axis=1).max() for g in (0, 1))
    assert np.linalg.norm(centres[0] - centres[1]) > 2 * radius


def test_a_given_map_goes_on(blobs):
    """With the full gradient, from its own r to another in small steps: the map changes little."""
    before = SCE(scale=5.0, random_state=0).fit(blobs[0])
    after = SCE(scale=6.0, init=before.embedding_, optimizer="gradient", random_state=0).fit(blobs[0])
    assert after.history_["r"].min() >= 5.0
    assert after.scale_ == 6.0
    assert np.linalg.norm(after.embedding_ - before.embedding_) < 0.2 * np.linalg.norm(before.embedding_)


def test_a_connected_minimum_may_be_a_point():
    """With hardly any repulsion; it is finite, has a shape all the same, and the reason says so."""
    X = np.random.default_rng(0).normal(size=(200, 3))
    model = SCE(scale=1e-6, random_state=0).fit(X)
    assert "single point" in model.stop_reason_
    assert 0 < model.embedding_.std() < 1e-4
    assert len(np.unique(model.embedding_, axis=0)) == 200


def test_an_exaggeration_below_1_has_no_minimum(blobs):
    """The sampler draws a map; the full gradient would never stop, and is refused."""
    assert np.isfinite(SCE(scale="sne", exaggeration=0.5, random_state=0).fit_transform(blobs[0])).all()
    with pytest.raises(ParameterError, match=r'exaggeration=0\.5 needs optimizer="sampler"'):
        SCE(scale="sne", exaggeration=0.5, optimizer="gradient").fit(blobs[0])
