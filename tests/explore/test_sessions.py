"""What is opened: maps, sweeps, data, names of data sets; with which columns and images; and what is refused."""

import zipfile

import numpy as np
import pytest

import sce
from explorers import Page, small_map
from sce import SCE, Map
from sce.errors import InputError, ParameterError
from sce.explore.images import find_images
from sce.explore.opening import open_session
from sce.explore.point_columns import cells, make_column, pack_column, read_content
from sce.web.packing import unpack


def table_file(path, n=90):
    """A table with text, dates, numbers and a formula; three clouds."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 3)) + 9 * (np.arange(n) % 3)[:, None]
    lines = ["name,kind,born,a,b,c"]
    for k, row in enumerate(X.tolist()):
        lines.append(f"=row{k},{'uvw'[k % 3]},2024-01-{k % 28 + 1:02d},{','.join(map(repr, row))}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def embedded(tmp_path, monkeypatch):
    """A session of a table that was embedded first."""
    monkeypatch.chdir(tmp_path)
    return open_session(str(table_file(tmp_path / "people.csv")))


def test_data_are_embedded_first_and_the_map_is_kept(embedded, tmp_path):
    """The map is in the current folder, is that of the defaults, and is used again the next time."""
    kept = sce.load(tmp_path / "people.map.npz")
    assert np.array_equal(kept.Y, embedded.coordinates(0))
    table = sce.read(tmp_path / "people.csv", auto=False)
    assert np.array_equal(kept.Y, SCE(random_state=0).fit_transform(table.X))
    said = []
    again = open_session(str(tmp_path / "people.csv"), say=said.append)
    assert "was made before" in said[0]
    assert list(again.columns) == list(embedded.columns)
    embedded.keeper.close()


def test_a_map_of_other_data_is_not_overwritten(tmp_path, monkeypatch):
    """A map of that name, of something else, stays."""
    monkeypatch.chdir(tmp_path)
    small_map(tmp_path / "people.map.npz")
    content = (tmp_path / "people.map.npz").read_bytes()
    with pytest.raises(InputError, match="is a map of None"):
        open_session(str(table_file(tmp_path / "people.csv")))
    assert (tmp_path / "people.map.npz").read_bytes() == content


def test_columns_have_kinds_and_roles(embedded):
    """Labels first, then what the file holds; each of the kind that suits it."""
    assert {name: (column.kind, column.role) for name, column in embedded.columns.items()} == {
        "kind": ("classes", "label"),
        "born": ("date", "column"),
        "a": ("number", "column"),
        "b": ("number", "column"),
        "c": ("number", "column"),
    }
    names = [each["name"] for each in embedded.about()["columns"]]
    assert names == [*embedded.columns, "found clusters", "neighbors_kept", "edges_cut", "edges_stretched"]


def test_the_user_chooses_columns(embedded, tmp_path):
    """By name or number, from a file or from the data that the map keeps."""
    chosen = open_session("people.map.npz", data=str(tmp_path / "people.csv"), columns=["c", "born"])
    assert list(chosen.columns) == ["kind", "c", "born"]
    with pytest.raises(InputError, match="columns and images"):
        open_session("people.map.npz", columns=["c"])
    Map(embedded.coordinates(0), np.arange(90), X=np.ones((90, 4))).save("kept.npz")
    assert list(open_session("kept.npz", columns=["2:4"]).columns) == ["2", "3"]


def test_data_that_do_not_fit_are_refused(embedded, tmp_path):
    """With the numbers of rows."""
    with pytest.raises(InputError, match="has 30 rows, but the map has 90 points"):
        open_session("people.map.npz", data=str(table_file(tmp_path / "fewer.csv", 30)))
    with pytest.raises(InputError, match="There is no file"):
        open_session("nowhere.npz")
    with pytest.raises(InputError):
        open_session("people.map.npz", labels="people.csv:nowhere")


def test_labels_may_come_from_elsewhere(embedded):
    """FILE:COLUMN, or none."""
    born = open_session("people.map.npz", labels="people.csv:born")
    assert born.columns["born"].role == "label"
    assert open_session("people.map.npz", labels="none").about()["label"] is None


def test_the_graph_is_made_again_from_the_data(embedded, tmp_path):
    """With the same bytes; without data there is none."""
    bare = sce.load("people.map.npz")
    P, bare.P = bare.P, None
    bare.save("bare.npz")
    alone = open_session("bare.npz")
    assert not alone.has_graph
    assert alone.graph() is None
    again = open_session("bare.npz", data=str(tmp_path / "people.csv"))
    assert abs(again.graph() - P).max() == 0


def test_rows_that_were_left_out_or_merged_keep_their_columns(tmp_path, monkeypatch, sce):
    """The cells of a point are those of its first row."""
    monkeypatch.chdir(tmp_path)
    rows = [f"r{k},{k // 2},{(k // 2) ** 2},{'' if k == 5 else 'xyz'[k % 3]}" for k in range(60)]
    (tmp_path / "twice.csv").write_text("\n".join(["id,a,b,kind", *rows]) + "\n")
    assert sce("embed", "twice.csv", "--merge-copies", "-o", "twice.map.npz", "--quiet").code == 0
    session = open_session("twice.map.npz", data="twice.csv")
    assert session.n == 30
    assert session.columns["a"].take(slice(3)).tolist() == [0, 1, 2]


def test_a_sweep_has_frames_with_their_own_steps(tmp_path):
    """Frames of very different size are all drawn finely; the marked frame comes first."""
    rng = np.random.default_rng(0)
    frames = (rng.normal(size=(4, 50, 2)) * 10.0 ** np.arange(4)[:, None, None]).astype(np.float32)
    sweep = sce.Sweep(frames, np.arange(4.0), np.arange(50), figures={"f": np.array([1, np.nan, 2, 3])})
    sweep.mark("SCE", 100.0)
    sweep.save(tmp_path / "s.npz")
    page = Page.open(tmp_path / "s.npz")
    about = page.get("/api/about").json()
    assert (about["frame"], about["frames"]["marks"]["SCE"]["frame"], about["r"]) == (2, 2, None)
    assert about["frames"]["r"] == [1, 10, 100, 1000]
    assert about["frames"]["figures"] == {"f": [1, None, 2, 3]}
    for k in range(4):
        meta, arrays = page.arrays("/api/points", frame=k)
        shown = np.array(meta["low"]) + meta["step"] * arrays["xy"]
        assert np.abs(shown - frames[k]).max() <= 0.51 * meta["step"]
        assert meta["step"] < 1e-4 * np.ptp(frames[k])
    assert np.array_equal(page.arrays("/api/points")[1]["xy"], page.arrays("/api/points", frame=2)[1]["xy"])


# ---------------------------------------------------------------------------------------------------------------- hostile


def test_a_pickle_in_an_archive_is_not_opened(tmp_path):
    """Nor executed."""
    np.savez(tmp_path / "evil.npz", sce_map=np.array([{"format": 1}], object), allow_pickle=True)
    with pytest.raises(InputError, match="pickled"):
        open_session(tmp_path / "evil.npz")


def test_an_archive_that_unpacks_to_much_more_is_refused(tmp_path):
    """Before it is unpacked."""
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("sce_map.npy", b"")
        with archive.open("Y.npy", "w", force_zip64=True) as file:
            for _ in range(1100):
                file.write(bytes(1 << 20))
    with pytest.raises(InputError, match=r"would unpack to 1\.2 GB"):
        open_session(tmp_path / "bomb.npz")


@pytest.mark.parametrize("content", [b"", b"PK", b"PK\x03\x04" + bytes(100), b"\x93NUMPY"])
def test_files_that_are_no_archives_are_refused(tmp_path, content):
    """In a sentence."""
    (tmp_path / "x.npz").write_bytes(content)
    with pytest.raises(InputError):
        open_session(tmp_path / "x.npz")


# ---------------------------------------------------------------------------------------------------------------- columns


def test_columns_travel_as_codes_or_numbers():
    """0 is no class; what is not finite is missing; a constant column works."""
    for values, kind, expected in [
        (np.array(["b", "a", ""]), "classes", [2, 1, 0]),
        (np.array([3, 3, -1]), "classes", [1, 1, 0]),
        (np.array([0.5, np.nan, np.inf]), "number", [0.5, None, None]),
        (np.array([1e300, 0.5, 1]), "number", [None, 0.5, 1]),
        (np.array(["2024-01-02", "NaT", "1970-01-02"], "datetime64[D]"), "date", [19724, None, 1]),
    ]:
        column = make_column("x", "column", values.__getitem__)
        meta, arrays = unpack(pack_column(read_content(column)))
        assert (column.kind, meta["kind"]) == (kind, kind)
        found = cells(next(iter(arrays.values())))
        assert found == expected
    meta, _ = unpack(pack_column(read_content(make_column("x", "column", np.full(3, 0.5).__getitem__))))
    assert (meta["low"], meta["high"]) == (0.5, 0.5)


def test_many_classes_need_wider_codes():
    """One byte up to 255 classes, two up to 65,535."""
    for count, dtype in ((255, np.uint8), (256, np.uint16), (70_000, np.uint32)):
        values = np.repeat([f"c{k}" for k in range(count)], 2)
        meta, arrays = unpack(
            pack_column(read_content(make_column("x", "column", values.__getitem__)._replace(kind="classes")))
        )
        assert arrays["codes"].dtype == dtype
        assert (len(meta["names"]), arrays["codes"].max()) == (count, count)


def test_text_that_differs_in_most_rows_is_no_class():
    """It is shown and searched."""
    assert make_column("x", "column", np.array([f"t{k}" for k in range(2000)]).__getitem__).kind == "text"


def test_cells_are_plain_and_bounded():
    """Markup stays text; long text is cut; what JSON cannot hold becomes text or nothing."""
    values = np.array(["</script><script>alert(1)</script>", "x" * 5000, None, True, 2**60, "\ud800"], object)
    found = cells(values)
    assert found[0] == "</script><script>alert(1)</script>"
    assert (len(found[1]), *found[2:]) == (2000, None, "True", str(2**60), "\\ud800")


# ----------------------------------------------------------------------------------------------------------------- images


def test_images_are_recognised(tmp_path):
    """Whole numbers from 0 to 255 in a square number of columns, or columns named so; not other data."""
    X, _ = sce.datasets.load("digits")
    images = find_images(X, None)
    assert (images.width, images.height, images.white) == (8, 8, 16.0)
    assert np.array_equal(images.pixels(np.array([3])), np.rint(X[3:4] * 255 / 16).reshape(1, 8, 8))
    assert find_images(X / 16, [f"pixel_{k // 8}_{k % 8}" for k in range(64)]).white == 1.0
    assert find_images(X, [f"gene{k}" for k in range(64)]) is None
    assert find_images(X - 1, None) is None
    assert find_images(X[:, :63], None) is None
    assert find_images(X, None, "no") is None
    assert find_images(X[:, :32], None, "4x8").height == 8
    with pytest.raises(InputError, match="64 columns"):
        find_images(X, None, "28x28")
    for wanted in ("28", "0x8", "9999x1", "axb", ""):
        with pytest.raises(ParameterError):
            find_images(X, None, wanted)


def test_sparse_rows_can_be_images():
    """They are made dense row by row."""
    from scipy import sparse

    X, _ = sce.datasets.load("digits")
    dense, thin = (find_images(each, None).pixels(np.array([1, 0])) for each in (X, sparse.csr_matrix(X)))
    assert np.array_equal(dense, thin)
