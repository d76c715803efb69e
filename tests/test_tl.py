"""scanpy's manner of calling: what is read from an AnnData object, and what is written to it. All with the real scanpy.

Every test that needs scanpy is here, because importing it takes seconds.
"""

import re
import warnings

import numpy as np
import pytest

import sce
from sce import SCE, InputError, ParameterError
from sce.tl import _paga_start

# What changes in other libraries is announced by these categories; sce itself uses neither.
pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:(scanpy|anndata|umap|louvain|igraph).*"),
]


@pytest.fixture(scope="module")
def sc():
    """scanpy, whose import warns of much."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("scanpy")


@pytest.fixture(scope="module")
def blobs(sc):
    """160 cells in four groups, with a graph of neighbours; tests take a copy."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        adata = sc.datasets.blobs(n_variables=8, n_centers=4, cluster_std=1.0, n_observations=160)
        sc.pp.pca(adata, n_comps=4)
        sc.pp.neighbors(adata, n_neighbors=10, use_rep="X_pca", method="gauss")  # "umap" compiles for ten seconds
    return adata


@pytest.fixture
def cells(blobs):
    return blobs.copy()


def test_the_graph_of_scanpy_is_used(cells):
    """The map is that of its connectivities; obsm and uns get it and what it was made with, and nothing else changes."""
    before = set(cells.obsm), set(cells.uns), set(cells.obsp)
    assert sce.tl.sce(cells, alpha=0.1) is None
    P = cells.obsp["connectivities"]
    assert (cells.obsm["X_sce"] == SCE(affinity="precomputed", alpha=0.1, random_state=0).fit_transform(P)).all()
    params = cells.uns["sce"]["params"]
    assert params == {
        "neighbors_key": "neighbors",
        "random_state": 0,
        "n_components": 2,
        "alpha": 0.1,
        "affinity": "precomputed",
    }
    assert (set(cells.obsm), set(cells.uns), set(cells.obsp)) == (before[0] | {"X_sce"}, before[1] | {"sce"}, before[2])


def test_connectivities_become_p(sc):
    """They are symmetric, so they are only scaled to sum 1, and no warning is given."""
    C = sc.datasets.pbmc68k_reduced().obsp["connectivities"]
    P = SCE(affinity="precomputed", n_epochs=1).fit(C).affinity_
    assert P.sum(dtype=float) == pytest.approx(1, abs=1e-5)
    assert abs(P - P.T).max() == 0
    assert abs(P - C / C.sum()).max() < 1e-8


def test_a_copy(cells):
    """copy=True leaves the object as it was, and returns one with the same map."""
    twin = sce.tl.sce(cells, copy=True)
    assert "X_sce" not in cells.obsm
    assert "sce" not in cells.uns
    sce.tl.sce(cells)
    assert (twin.obsm["X_sce"] == cells.obsm["X_sce"]).all()


def test_another_graph_and_another_name(sc, cells):
    """neighbors_key leads to the matrix of obsp through uns; key_added names the map and its parameters."""
    sc.pp.neighbors(cells, n_neighbors=5, key_added="few", use_rep="X_pca", method="gauss")
    sce.tl.sce(cells, neighbors_key="few", key_added="X_few")
    few = cells.obsp[cells.uns["few"]["connectivities_key"]]
    assert (cells.obsm["X_few"] == SCE(affinity="precomputed", random_state=0).fit_transform(few)).all()
    assert cells.uns["few"]["connectivities_key"] == "few_connectivities"
    sce.tl.sce(cells, key_added="X_wide", n_components=3)
    assert cells.obsm["X_wide"].shape == (160, 3)
    assert cells.uns["X_wide"]["params"]["n_components"] == 3


def test_the_parameters_of_a_graph_are_not_replaced(sc, cells):
    """A key whose parameters would overwrite those of something else is refused, before any work."""
    sc.pp.neighbors(cells, n_neighbors=5, key_added="few", use_rep="X_pca", method="gauss")
    with pytest.raises(ParameterError, match=re.escape("uns['few']")):
        sce.tl.sce(cells, key_added="few")
    sce.tl.sce(cells, n_epochs=1)
    sce.tl.sce(cells, n_epochs=2)
    assert cells.uns["sce"]["params"]["n_epochs"] == 2


def test_a_representation(cells):
    """Neighbours are searched anew in X or obsm, with the parameters of the search."""
    sce.tl.sce(cells, use_rep="X_pca", n_neighbors=7)
    assert (cells.obsm["X_sce"] == SCE(n_neighbors=7, random_state=0).fit_transform(cells.obsm["X_pca"])).all()
    assert cells.uns["sce"]["params"]["use_rep"] == "X_pca"
    sce.tl.sce(cells, use_rep="X")
    assert (cells.obsm["X_sce"] == SCE(random_state=0).fit_transform(cells.X)).all()


def test_starts(sc, cells):
    """Coordinates in obsm, of which the first columns count, an array, or a start by name."""
    base = {"n_epochs": 1, "optimizer": "gradient"}
    cells.obsm["X_start"] = np.random.default_rng(0).normal(size=(160, 2))
    sce.tl.sce(cells, init_pos="X_start", key_added="a", **base)
    sce.tl.sce(cells, init_pos=cells.obsm["X_start"], key_added="b", **base)
    assert (cells.obsm["a"] == cells.obsm["b"]).all()
    assert [cells.uns[key]["params"]["init_pos"] for key in "ab"] == ["X_start", "array"]
    sce.tl.sce(cells, init_pos="X_pca", key_added="c", **base)
    sce.tl.sce(cells, init_pos=cells.obsm["X_pca"][:, :2], key_added="d", **base)
    assert (cells.obsm["c"] == cells.obsm["d"]).all()
    sce.tl.sce(cells, init_pos="random", key_added="e", **base)
    assert not (cells.obsm["c"] == cells.obsm["e"]).all()


def test_start_from_paga(sc):
    """Cells begin around their group in the drawing of PAGA, nearer to it than to any other group on average."""
    pytest.importorskip("igraph", reason="scanpy's PAGA needs it")
    adata = sc.datasets.pbmc68k_reduced()
    with pytest.raises(InputError, match=r"run scanpy\.pl\.paga"):
        sce.tl.sce(adata, init_pos="paga")
    sc.tl.paga(adata, groups="louvain")
    sc.pl.paga(adata, show=False, plot=False)
    place, start = adata.uns["paga"]["pos"], _paga_start(adata, 2, seed=0)
    group = adata.obs["louvain"].cat.codes.to_numpy()
    means = np.array([start[group == k].mean(axis=0) for k in range(len(place))])
    apart = ((means[:, None] - place[None]) ** 2).sum(axis=2)
    assert (apart.argmin(axis=1) == np.arange(len(place))).all()
    assert len(np.unique(start, axis=0)) == len(group)
    sce.tl.sce(adata, init_pos="paga")
    assert np.isfinite(adata.obsm["X_sce"]).all()
    assert adata.uns["sce"]["params"]["init_pos"] == "paga"
    with pytest.raises(InputError, match="3"):
        sce.tl.sce(adata, init_pos="paga", n_components=3)


def test_the_result_can_be_drawn_and_saved(sc, cells, tmp_path):
    """By scanpy, under its full name and without "X_"; and an .h5ad brings it back."""
    import matplotlib.pyplot as plt

    sce.tl.sce(cells, init_pos="X_pca", random_state=3)
    for basis in ("X_sce", "sce"):
        axes = sc.pl.embedding(cells, basis, color="blobs", show=False)
        drawn = np.concatenate([each.get_offsets() for each in axes.collections])
        assert len(drawn) == 160
        plt.close("all")
    cells.write_h5ad(tmp_path / "cells.h5ad")
    again = sc.read_h5ad(tmp_path / "cells.h5ad")
    assert (again.obsm["X_sce"] == cells.obsm["X_sce"]).all()
    assert again.uns["sce"]["params"]["random_state"] == 3


def test_a_view_becomes_an_object_of_its_own(cells):
    """As with scanpy's own tools; the whole object is left as it was."""
    part = cells[:80]
    with pytest.warns(UserWarning, match="view"):
        sce.tl.sce(part, use_rep="X")
    assert part.obsm["X_sce"].shape == (80, 2)
    assert "X_sce" not in cells.obsm


def test_a_well_known_data_set(sc):
    """Blood cells that come with scanpy, with its own graph: groups of cells are separated at least as well as by its UMAP."""
    from sklearn.metrics import silhouette_score

    adata = sc.datasets.pbmc68k_reduced()
    sce.tl.sce(adata)
    ours, theirs = (silhouette_score(adata.obsm[key], adata.obs["louvain"]) for key in ("X_sce", "X_umap"))
    assert ours > theirs


REFUSED = {
    "no neighbours": ({}, "run scanpy.pp.neighbors(adata) first, or embed a representation with use_rep='X_pca'"),
    "unknown neighbours": ({"neighbors_key": "far"}, "key_added='far'"),
    "unknown representation": ({"use_rep": "X_tsne"}, "use_rep can be 'X', 'X_pca'"),
    "both": ({"use_rep": "X", "neighbors_key": "neighbors"}, "leave one of them out"),
    "a parameter of the search": ({"n_neighbors": 30}, "n_neighbors has no effect on the graph"),
    "init": ({"init": "random"}, "init is called init_pos"),
    "unknown start": ({"use_rep": "X", "init_pos": "X_tsne"}, "init_pos can be 'X_pca', 'paga'"),
    "flat start": ({"use_rep": "X", "init_pos": "X_pca", "n_components": 9}, "but the map will have 9 dimensions"),
    "unknown parameter": ({"use_rep": "X", "min_dist": 0.5}, "min_dist"),
    "a name in use": ({"use_rep": "X", "key_added": "X_pca"}, "key_added='X_pca' would replace"),
    "no name": ({"use_rep": "X", "key_added": ""}, "key_added must be a name"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(cells, case):
    """With a sentence that says what to do, and the object as it was."""
    del cells.uns["neighbors"]
    parameters, sentence = REFUSED[case]
    with pytest.raises((InputError, ParameterError), match=re.escape(sentence)):
        sce.tl.sce(cells, **parameters)
    assert set(cells.obsm) == {"X_pca"}
    assert "sce" not in cells.uns


def test_other_graphs_are_named(sc, cells):
    """Where there is a graph under another key, the message names that key."""
    sc.pp.neighbors(cells, n_neighbors=5, key_added="few", use_rep="X_pca", method="gauss")
    del cells.uns["neighbors"]
    with pytest.raises(InputError, match="neighbors_key could be 'few'"):
        sce.tl.sce(cells)
    del cells.obsp["few_connectivities"]
    with pytest.raises(InputError, match=r"run scanpy\.pp\.neighbors\(adata\) again"):
        sce.tl.sce(cells, neighbors_key="few")


def test_the_estimator_names_the_right_call(cells):
    """SCE().fit(adata) does not guess what was meant."""
    with pytest.raises(InputError, match=re.escape("sce.tl.sce(adata)")):
        SCE().fit(cells)
    with pytest.raises(InputError, match=re.escape("for arrays use sce.SCE().fit")):
        sce.tl.sce(cells.X)


# ---------------------------------------------------------------------------------------------------------- in the shell


@pytest.fixture
def file(sc, tmp_path):
    """A file as scanpy leaves it, in the current folder: counts, principal components, the graph of neighbours."""
    adata = sc.datasets.pbmc68k_reduced()
    adata.write_h5ad(tmp_path / "cells.h5ad")
    return adata


@pytest.fixture
def shell(request, file):
    """The command line, in the folder of the file."""
    return request.getfixturevalue("sce")


def test_the_shell_names_what_else_may_be_embedded(shell):
    """Principal components and the graph of scanpy."""
    said = shell("embed", "cells.h5ad", "-o", "map.npz")
    assert said.code == 0, said.err
    assert "X_pca" in said.err
    assert "connectivities" in said.err


@pytest.mark.parametrize("array", ["connectivities", "X_pca"])
def test_the_map_goes_back_into_a_copy_of_the_file(shell, file, sc, array):
    """As sce.tl.sce would have put it there, with all else as it was; scanpy draws it."""
    said = shell("embed", "cells.h5ad", "--array", array, "-o", "map.npz", "--write-h5ad", "out.h5ad")
    assert said.code == 0, said.err
    found, before = sc.read_h5ad("out.h5ad"), sc.read_h5ad("cells.h5ad")
    expected = sce.tl.sce(file, use_rep=None if array == "connectivities" else array, copy=True)
    np.testing.assert_array_equal(found.obsm["X_sce"], expected.obsm["X_sce"])
    assert found.uns["sce"]["params"]["random_state"] == 0
    assert "X_sce" not in before.obsm
    assert list(found.obs.columns) == list(before.obs.columns)
    assert set(found.uns) == {*before.uns, "sce"}
    sc.pl.embedding(found, "X_sce", color="louvain", show=False)


def test_a_copy_replaces_only_a_copy_with_a_map(shell, tmp_path):
    """Its own input, and files of others, stay; an earlier copy is replaced, whole or not at all."""
    options = ("embed", "cells.h5ad", "--array", "X_pca", "-o", "map.npz", "--write-h5ad")
    assert "is the file that is being read" in shell(*options, "cells.h5ad").err
    (tmp_path / "other.h5ad").write_bytes((tmp_path / "cells.h5ad").read_bytes())
    assert "has no map" in shell(*options, "other.h5ad").err
    for _ in range(2):
        assert shell(*options, "out.h5ad").code == 0
    assert not list(tmp_path.glob(".*part"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["digits.csv", "--write-h5ad", "out.h5ad"], "copies an .h5ad file"),
        (["cells.h5ad", "--transpose", "--write-h5ad", "out.h5ad"], "needs a point for each cell"),
        (["cells.h5ad", "--missing", "drop", "--write-h5ad", "out.h5ad"], "needs a point for each cell"),
        (["cells.h5ad", "--write-h5ad", "out.csv"], ".h5ad"),
    ],
)
def test_copies_that_cannot_be(shell, options, words):
    """A sentence before any work."""
    said = shell("embed", *options)
    assert said.code in (2, 4)
    assert words in said.err


def test_params_in_the_file_say_which_array_was_embedded(shell, sc):
    """And nothing about what was printed; sce.tl.sce takes the others as they are."""
    assert shell("embed", "cells.h5ad", "--array", "X_pca", "-o", "map.npz", "--write-h5ad", "out.h5ad").code == 0
    params = dict(sc.read_h5ad("out.h5ad").uns["sce"]["params"])
    assert params["array"] == "X_pca"
    assert "verbose" not in params


def test_quality_gives_no_advice_on_how_to_embed(shell):
    """There is a map already, and sce quality has no --array."""
    assert shell("embed", "cells.h5ad", "-o", "map.npz").code == 0
    said = shell("quality", "map.npz", "--data", "cells.h5ad")
    assert said.code == 0, said.err
    assert "--array" not in said.err
    assert "Columns used" not in said.err


def test_a_file_without_x_names_its_arrays(shell, file, tmp_path):
    """So that one of them can be named."""
    del file.X
    file.write_h5ad(tmp_path / "without.h5ad")
    assert "has no X; name another array with --array; it has: X_pca, X_umap, " in shell("embed", "without.h5ad").err


def test_the_graph_of_older_versions_is_offered_too(file, sc):
    """Which does not say where in obsp it is, as in the cells that come with scanpy."""
    sc.pp.neighbors(file, n_neighbors=5, key_added="few", method="gauss")
    for key in ("neighbors", "few"):
        sce.tl.sce(file, neighbors_key=key, n_epochs=2)
    with pytest.raises(InputError, match="neighbors_key could be 'neighbors' or 'few'"):
        sce.tl.sce(file, neighbors_key="fwe")


def test_messages_name_the_parameters_of_this_function(blobs):
    """Not those of SCE, to which some of them go under other names."""
    cells = blobs.copy()
    with pytest.raises(InputError, match=r"init_pos must have the shape \(160, 2\)"):
        sce.tl.sce(cells, init_pos=np.zeros((3, 2)))
    with pytest.raises(InputError, match=r"init_pos can be .*'auto', 'spectral', 'random'"):
        sce.tl.sce(cells, init_pos="pca")  # needs vectors, and there is only a graph
    with pytest.raises(ParameterError, match=r"no parameter 'min_dist'\.$|did you mean '(?!init')"):
        sce.tl.sce(cells, min_dist=0.3)
    with pytest.raises(ParameterError, match="did you mean 'use_rep'"):
        sce.tl.sce(cells, userep="X_pca")
