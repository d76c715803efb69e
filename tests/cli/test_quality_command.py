"""`sce quality` on files."""

import json
from pathlib import Path

import numpy as np
import pytest

from sce import load
from sce.data.recipe import Recipe
from sce.quality import assess
from sce.results.graphs import read_graph


@pytest.fixture
def embedded(sce, table):
    """data.csv as map.npz, with its graph in P.npz."""
    said = sce("embed", "data.csv", "-o", "map.npz", "--save-graph", "P.npz", "--n-neighbors", 10)
    assert said.code == 0, said.err
    return sce


def test_says_what_is_missing_and_gives_the_rest(embedded):
    said = embedded("quality", "map.npz")
    assert said.code == 0
    assert "Neighbours and triplets kept need the data." in said.out
    assert "clusters against P need the graph" in said.out
    assert "accuracy" in said.out  # the labels are in the map


def test_the_figures_are_those_of_python(embedded, table):
    said = embedded("quality", "map.npz", "--data", "data.csv", "--graph", "P.npz", "--json")
    found = json.loads(said.out)
    result = load("map.npz")
    expected = assess(result.Y, X=table, P=read_graph("P.npz"), classes=result.labels).figures()
    assert found["figures"] == pytest.approx(expected, rel=1e-6)
    assert found["figures"]["n_clusters"] == found["figures"]["n_real"] == found["figures"]["n_groups"] == 2
    assert found["clusters"]["real"] == [True, True]
    assert found["missing"] == []


def test_begins_with_the_story(embedded):
    """Plain words come first, then figures; --thorough adds what is known of the graph without the map."""
    said = embedded("quality", "map.npz", "--data", "data.csv", "--graph", "P.npz")
    lines = said.out.splitlines()
    assert lines[1] == "The map shows 2 clusters with 100% of the points."
    assert "all clusters are real" in lines[3]
    assert "eigenvalues" not in said.out
    assert "clusters with real boundaries" not in said.out
    thorough = embedded("quality", "map.npz", "--graph", "P.npz", "--thorough").out
    assert "eigenvalues" in thorough
    assert "all clusters are real" in thorough


def test_the_graph_is_made_again_from_the_data(embedded):
    """With the parameters and the seed of the map, so with the same figures."""
    figures = [
        json.loads(embedded("quality", "map.npz", "--data", "data.csv", *graph, "--json").out)["figures"]
        for graph in ((), ("--graph", "P.npz"))
    ]
    assert figures[0] == figures[1]
    assert "n_real" in figures[0]


def test_data_are_prepared_as_they_were_for_the_map(sce, table):
    """Wildly scaled columns, which --normalize made equal: the map keeps neighbours of the prepared data only."""
    rows = (table * [1e6, 1, 1, 1]).tolist()
    Path("wild.csv").write_text("a,b,c,d\n" + "\n".join(",".join(map(repr, row)) for row in rows))
    assert sce("embed", "wild.csv", "-o", "map.npz", "--normalize", "standard", "--n-neighbors", 10).code == 0
    figures = json.loads(sce("quality", "map.npz", "--data", "wild.csv", "--json").out)["figures"]
    standard = (table - table.mean(axis=0)) / table.std(axis=0)
    assert figures["neighbors_kept"] == pytest.approx(assess(load("map.npz").Y, X=standard).neighbors.recall, abs=0.01)


def kept(sce, *words):
    """The share of neighbours that `sce quality` finds kept."""
    said = sce("quality", "map.npz", "--json", *words)
    assert said.code == 0, said.err
    return json.loads(said.out)["figures"]["neighbors_kept"]


def test_data_without_a_header_are_read_as_they_were_for_the_map(sce, table):
    """The map remembers --header: a first row of years is a row, or it is not."""
    rows = [[0.0, 1.0, 2.0, 3.0], *table.tolist()]  # looks like the header that pandas writes
    Path("plain.csv").write_text("\n".join(",".join(f"{value:g}" for value in row) for row in rows))
    assert sce("embed", "plain.csv", "-o", "map.npz", "--header", "no", "--n-neighbors", 10).code == 0
    assert load("map.npz").facts["preparation"] == {"header": "no"}
    assert len(load("map.npz").Y) == 81
    assert kept(sce, "--data", "plain.csv") > 0.3


def test_no_reduction_is_remembered(sce, monkeypatch):
    """The map remembers --pca 0, without which so many columns are refused."""
    monkeypatch.setattr("sce.data.preparation._MAX_COLUMNS_WITHOUT_PCA", 20)
    np.save("wide.npy", np.random.default_rng(0).normal(size=(60, 30)))
    assert "add --pca 50" in sce("embed", "wide.npy", "-o", "map.npz").err
    assert sce("embed", "wide.npy", "-o", "map.npz", "--pca", 0, "--n-neighbors", 5).code == 0
    assert load("map.npz").facts["preparation"] == {"pca": 0}
    assert kept(sce, "--data", "wide.npy") > 0.1


def test_every_option_on_data_is_kept_in_the_map(sce, table, tmp_path):
    """So that the same file is prepared in the same way, to the same bytes."""
    lines = [
        f"r{i};{i % 9},5;{i * i % 11 if i != 4 else ''};{'xyz'[i % 3]};{'uv'[i % 2]};{1 + i % 2}" for i in range(60)
    ]
    (tmp_path / "data.csv").write_text("\n".join(["cell;a;b;t;kind;w", *lines]))
    words = ["--labels", "kind", "--ids", "cell", "--weights", "w", "--decimal-comma", "--header", "yes", "--missing"]
    words += ["median", "--log1p", "--one-hot", "--normalize", "standard", "--pca", "3"]
    assert sce("embed", "data.csv", *words, "-o", "map.npz", "--keep-data").code == 0
    made = load("map.npz")
    recipe = Recipe.from_facts(made.facts["preparation"])
    prepared, _ = recipe.preparation.fit_transform(recipe.read("data.csv"))
    assert prepared.X.tobytes() == made.X.tobytes()
    assert set(made.facts["preparation"]) == {
        "labels", "ids", "weights", "decimal_comma", "header", "missing", "log1p", "one_hot", "normalize", "pca",
    }  # fmt: skip


def test_maps_of_the_version_before(sce, table):
    """Hold the options that were given, without --header and --pca 0."""
    assert sce("embed", "data.csv", "-o", "map.npz", "--normalize", "standard", "--n-neighbors", 10).code == 0
    result = load("map.npz")
    result.facts["preparation"] = {"normalize": "standard", "labels": "kind", "drop": ["b"], "graph": "P.npz"}
    result.save("map.npz")
    standard = (table - table.mean(axis=0)) / table.std(axis=0)
    expected = assess(result.Y, X=standard[:, [0, 2, 3]]).neighbors.recall
    assert kept(sce, "--data", "data.csv") == pytest.approx(expected, abs=0.01)


def test_distances_are_read_as_such(sce, table):
    """For a map of distances, --data names distances."""
    from scipy.spatial.distance import cdist

    np.save("D.npy", cdist(table, table))
    assert sce("embed", "D.npy", "--metric", "precomputed", "-o", "map.npz", "--n-neighbors", 10).code == 0
    expected = assess(load("map.npz").Y, X=table).neighbors.recall
    assert kept(sce, "--data", "D.npy") == pytest.approx(expected, abs=0.02)


def test_judges_clusters_of_a_file_and_the_classes(embedded):
    drawn = np.random.default_rng(0).integers(0, 2, 80)
    np.save("drawn.npy", drawn)
    said = embedded("quality", "map.npz", "--graph", "P.npz", "--clusters", "drawn.npy", "--json")
    found = json.loads(said.out)
    assert found["figures"]["n_clusters"] == 2
    assert found["figures"]["n_real"] == 0
    assert abs(found["figures"]["share"] - found["figures"]["share_null"]) < 0.1
    classes = json.loads(embedded("quality", "map.npz", "--graph", "P.npz", "--clusters", "classes", "--json").out)
    assert classes["figures"]["share"] > 0.99
    said = embedded("quality", "map.npz", "--labels", "none", "--clusters", "classes")
    assert (said.code, "needs classes" in said.err) == (2, True)


def test_draws_the_graph_in_blocks(embedded, tmp_path):
    assert embedded("quality", "map.npz", "--graph", "P.npz", "--plot", "blocks.png").code == 0
    assert (tmp_path / "blocks.png").stat().st_size > 1000
    said = embedded("quality", "map.npz", "--plot", "more.png")
    assert (said.code, "name it with --graph" in said.err) == (2, True)
    assert not (tmp_path / "more.png").exists()


def test_several_maps_and_several_seeds(embedded):
    embedded("embed", "data.csv", "-o", "other.npz", "--seed", 7, "--n-neighbors", 10)
    two = json.loads(embedded("quality", "map.npz", "other.npz", "--json").out)
    assert two["stability"]["clusters_stable"] == pytest.approx(1.0)
    assert 0 < two["stability"]["neighbors_stable"] <= 1
    seeds = embedded("quality", "map.npz", "--graph", "P.npz", "--seeds", 2, "--json")
    found = json.loads(seeds.out)
    assert found["spread"]["n_clusters"] == [2.0, 0.0]
    assert "Over 3 maps" in embedded("quality", "map.npz", "--data", "data.csv", "--seeds", 2).out
    assert "needs --data or --graph" in embedded("quality", "map.npz", "--seeds", 2).err


def test_says_when_map_and_graph_do_not_fit(embedded, sce):
    np.save("few.npy", np.random.default_rng(0).normal(size=(50, 3)))
    sce("embed", "few.npy", "-o", "few.npz", "--n-neighbors", 5)
    said = sce("quality", "few.npz", "--graph", "P.npz")
    assert (said.code, "P.npz has 80 points, but few.npz has 50" in said.err) == (3, True)
    said = sce("quality", "map.npz", "--data", "few.npy")
    assert (said.code, "80 points and the data have 50 rows" in said.err) == (3, True)


def test_figures_of_single_points_can_be_plotted(embedded, tmp_path):
    """A row for each point; the agreement only where there are other maps."""
    said = embedded(
        "quality", "map.npz", "--data", "data.csv", "--graph", "P.npz", "--points", "points.csv", "--seeds", 1
    )
    assert said.code == 0, said.err
    lines = (tmp_path / "points.csv").read_text().splitlines()
    assert lines[0] == "id,cluster,neighbors_kept,edges_cut,edges_stretched,agreement"
    assert len(lines) == 81
    assert embedded("plot", "map.npz", "--labels", "points.csv:neighbors_kept", "-o", "kept.png").code == 0
    assert embedded("quality", "map.npz", "--points", "points.txt").code == 4
