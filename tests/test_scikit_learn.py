"""SCE among scikit-learn's tools: pipelines, column transformers, data frames out, routing, graphs of neighbours, joblib."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from joblib import Memory, Parallel, delayed, dump, load
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.model_selection import ParameterGrid
from sklearn.neighbors import KNeighborsTransformer, RadiusNeighborsTransformer, kneighbors_graph
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from sce import SCE
from sce.errors import DataWarning, GraphWarning

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4)) + np.repeat([0, 8], 60)[:, None]
NAMES = [f"cell {i}" for i in range(120)]
KINDS = np.array(["u", "v"])[np.arange(120) % 2]
QUICK = {"random_state": 0, "n_epochs": 3}


def table(library="pandas"):
    """Two kinds of columns."""
    columns = {**{f"n{k}": X[:, k] for k in range(4)}, "kind": KINDS.tolist()}
    return pd.DataFrame(columns, index=NAMES) if library == "pandas" else pl.DataFrame(columns)


def prepared():
    """What such a table becomes."""
    return np.column_stack([StandardScaler().fit_transform(X), KINDS == "u", KINDS == "v"])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_are_transformed_before_us(library):
    """Numbers scaled, words encoded: the map is that of the matrix."""
    columns = ColumnTransformer(
        [
            ("numbers", StandardScaler(), [f"n{k}" for k in range(4)]),
            ("words", OneHotEncoder(sparse_output=False), ["kind"]),
        ]
    )
    expected = SCE(**QUICK).fit_transform(prepared())
    pipeline = make_pipeline(columns, SCE(**QUICK))
    np.testing.assert_array_equal(pipeline.fit_transform(table(library)), expected)
    frame = pipeline.set_output(transform=library).fit_transform(table(library))
    assert list(frame.columns) == ["sce0", "sce1"]
    np.testing.assert_array_equal(np.asarray(frame), expected)
    assert list(pipeline[-1].feature_names_in_)[-1] == "words__kind_v"
    if library == "pandas":
        assert frame.index.tolist() == pipeline[-1].ids_.tolist() == NAMES


def test_we_are_the_last_step():
    """As t-SNE, the map has no transform for new rows, and scikit-learn says so where one is needed."""
    for outer in (Pipeline([("map", SCE()), ("scale", StandardScaler())]), FeatureUnion([("map", SCE())])):
        with pytest.raises(TypeError, match="transform"):
            outer.fit(X)


def test_encoded_columns_may_be_sparse():
    """As OneHotEncoder gives them by default, also as sparse columns of pandas."""
    encoded = OneHotEncoder().fit_transform(table()[["kind"]])
    both = sp.hstack([encoded, sp.csr_matrix(X)]).tocsr()
    expected = SCE(**QUICK).fit_transform(both)
    frame = pd.DataFrame.sparse.from_spmatrix(both, index=NAMES)
    np.testing.assert_array_equal(SCE(**QUICK).fit_transform(frame), expected)


def test_frames_out_keep_the_index():
    """Whatever it is; polars has none; the library of the data does not matter."""
    for index in (NAMES, pd.date_range("2024-01-01", periods=120), pd.MultiIndex.from_product([[1, 2], range(60)])):
        frame = SCE(**QUICK).set_output(transform="pandas").fit_transform(pd.DataFrame(X, index=index))
        assert (frame.index == pd.Index(index)).all()
    model = SCE(**QUICK).set_output(transform="polars")
    assert isinstance(model.fit_transform(pd.DataFrame(X, index=NAMES)), pl.DataFrame)
    out = SCE(**QUICK).set_output(transform="pandas").fit_transform(pl.DataFrame(X))
    assert out.index.tolist() == list(range(120))
    pa = pytest.importorskip("pyarrow")
    arrow = pa.table({f"n{k}": X[:, k] for k in range(4)})
    assert SCE(**QUICK).set_output(transform="pandas").fit_transform(arrow).shape == (120, 2)


def test_weights_are_routed():
    """On request through a pipeline, also a nested one; without a request that is an error."""
    weight = np.linspace(1.0, 2.0, 120)
    expected = SCE(**QUICK).fit(X, sample_weight=weight).embedding_
    assert not np.array_equal(expected, SCE(**QUICK).fit(X).embedding_)
    identity = FunctionTransformer()
    with sklearn.config_context(enable_metadata_routing=True):
        asked = SCE(**QUICK).set_fit_request(sample_weight=True)
        for outer in (make_pipeline(identity, asked), make_pipeline(identity, Pipeline([("inner", asked)]))):
            np.testing.assert_array_equal(outer.fit_transform(X, sample_weight=weight), expected)
        renamed = make_pipeline(identity, SCE(**QUICK).set_fit_request(sample_weight="counts"))
        np.testing.assert_array_equal(renamed.fit_transform(X, counts=weight), expected)
        refused = make_pipeline(identity, SCE(**QUICK).set_fit_request(sample_weight=False))
        with pytest.raises(TypeError, match="sample_weight"):
            refused.fit_transform(X, sample_weight=weight)
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            make_pipeline(identity, SCE(**QUICK)).fit_transform(X, sample_weight=weight)
    without = make_pipeline(identity, SCE(**QUICK))
    np.testing.assert_array_equal(without.fit_transform(X, sce__sample_weight=weight), expected)


@pytest.mark.parametrize("given", [pd.Series, pl.Series, list, lambda w: pd.Series(w, dtype="Float64")])
def test_weights_may_be_series(given):
    """Of any library."""
    weight = np.linspace(1.0, 2.0, 120)
    expected = SCE(**QUICK).fit(X, sample_weight=weight).embedding_
    np.testing.assert_array_equal(SCE(**QUICK).fit(X, sample_weight=given(weight)).embedding_, expected)


@pytest.mark.parametrize("affinity", ["shared", "entropic", "knn"])
def test_a_graph_of_distances_before_us(affinity):
    """KNeighborsTransformer finds the neighbours, which counts every point as its own: the graph is the one we find."""
    options = {**QUICK, "affinity": affinity, "n_neighbors": 15, "init": "random"}
    found = SCE(**options).fit(X)
    transformer = KNeighborsTransformer(n_neighbors=15, mode="distance")
    pipeline = make_pipeline(transformer, SCE(metric="precomputed", **options))
    pipeline.fit(X)
    assert abs(pipeline[-1].affinity_ - found.affinity_).max() < 1e-6
    np.testing.assert_allclose(pipeline[-1].embedding_, found.embedding_, atol=1e-3)
    assert pipeline[-1].n_neighbors_ == found.n_neighbors_


@pytest.mark.parametrize("mode", ["distance", "connectivity"])
def test_a_graph_taken_for_data_warns(mode):
    """Without the parameter that says what the matrix is; other sparse data have no warning."""
    graph = kneighbors_graph(X, 15, mode=mode)
    with pytest.warns(DataWarning, match="looks like a graph"):
        SCE(**QUICK).fit(graph)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        SCE(**QUICK).fit(sp.random(120, 120, 0.3, format="csr", random_state=0))


def test_more_neighbours_than_needed_and_fewer():
    """The nearest ones are used; a warning says that there are too few."""
    expected = SCE(**QUICK, n_neighbors=10, init="random").fit(X).affinity_
    many = make_pipeline(
        KNeighborsTransformer(n_neighbors=40), SCE(**QUICK, metric="precomputed", n_neighbors=10, init="random")
    )
    assert abs(many.fit(X)[-1].affinity_ - expected).max() < 1e-6
    few = make_pipeline(KNeighborsTransformer(n_neighbors=5), SCE(**QUICK, metric="precomputed", n_neighbors=10))
    with pytest.warns(
        GraphWarning, match="120 rows of the distance matrix hold fewer than the 10 neighbours asked for"
    ):
        few.fit(X)


def test_a_graph_of_connectivities_before_us():
    """As similarities."""
    pipeline = make_pipeline(
        KNeighborsTransformer(n_neighbors=15, mode="connectivity"), SCE(**QUICK, affinity="precomputed")
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)  # the graph is not symmetric
        assert np.isfinite(pipeline.fit_transform(X)).all()


def test_neighbours_within_a_radius():
    """Rows with different numbers of neighbours."""
    pipeline = make_pipeline(RadiusNeighborsTransformer(radius=3.0), SCE(**QUICK, metric="precomputed", n_neighbors=5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.isfinite(pipeline.fit_transform(X)).all()


def test_pickles_and_clones():
    """Fitted and not, with output settings and requests; with ids; a clone is not fitted."""
    model = SCE(**QUICK, alpha=0.2).set_output(transform="pandas").set_fit_request(sample_weight=True)
    for copy in (pickle.loads(pickle.dumps(model)), clone(model)):
        assert copy.alpha == 0.2
        assert isinstance(copy.fit_transform(X), pd.DataFrame)
        assert copy.get_metadata_routing().fit.requests == {"sample_weight": True}
    model.fit(pd.DataFrame(X, index=NAMES))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.embedding_, model.embedding_)
    assert again.ids_.tolist() == NAMES
    assert abs(again.affinity_ - model.affinity_).max() == 0
    assert not hasattr(clone(model), "embedding_")


def fitted(alpha):
    return SCE(**QUICK, alpha=alpha, n_jobs=1).fit(X)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_fits_in_parallel(backend):
    """In other processes and in threads: the same bytes as one after another."""
    grid = [options["alpha"] for options in ParameterGrid({"alpha": [0.05, 0.5, 1.0]})]
    models = Parallel(n_jobs=2, backend=backend)(delayed(fitted)(alpha) for alpha in grid)
    for alpha, model in zip(grid, models, strict=True):
        np.testing.assert_array_equal(model.embedding_, fitted(alpha).embedding_)


def test_large_data_in_parallel():
    """joblib gives large arrays to its workers memory-mapped and read-only."""
    big = np.repeat(X, 2, axis=0) + RNG.normal(size=(240, 4))
    models = Parallel(n_jobs=2, max_nbytes="1K")(
        delayed(SCE(n_epochs=3, random_state=seed).fit)(big) for seed in (0, 1)
    )
    np.testing.assert_array_equal(models[0].embedding_, SCE(n_epochs=3, random_state=0).fit(big).embedding_)


def test_a_pipeline_that_keeps_its_steps(tmp_path):
    """In a folder: what comes before us is found again, with the same map."""
    pipeline = Pipeline([("scale", StandardScaler()), ("map", SCE(**QUICK))], memory=str(tmp_path))
    np.testing.assert_array_equal(pipeline.fit_transform(X), pipeline.fit_transform(X))


def test_a_fit_kept_by_joblib(tmp_path):
    """joblib.Memory hashes and pickles estimators, and joblib.dump keeps them."""
    model = Memory(tmp_path, verbose=0).cache(fitted)(0.1)
    np.testing.assert_array_equal(Memory(tmp_path, verbose=0).cache(fitted)(0.1).embedding_, model.embedding_)
    dump(model, tmp_path / "model.joblib")
    np.testing.assert_array_equal(load(tmp_path / "model.joblib").embedding_, model.embedding_)
