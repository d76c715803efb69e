"""The sweep file."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sce
from sce import InputError, Map, OutputError, Sweep
from sce.results.maps import load as load_map
from sce.results.sweeps import Mark

RNG = np.random.default_rng(0)


def made(**other):
    """A sweep of three maps of twenty points."""
    given = {
        "frames": RNG.normal(size=(3, 20, 2)).astype(np.float32),
        "log10_r": np.array([0.0, 1.0, 2.0]),
        "ids": np.arange(20),
        **other,
    }
    return Sweep(**given)


def test_a_sweep_comes_back(tmp_path, graph):
    """All of it."""
    P = graph(20)
    sweep = made(
        alphas=np.array([0.0, 0.5, 1.0]),
        labels=np.array(["a", "b", ""] * 6 + ["a", "b"]),
        label_name="kind",
        figures={"n_clusters": np.array([1.0, np.nan, 3.0])},
        parameters={"alpha": 0.5, "init": np.zeros((20, 2))},
        facts={"source": "x.csv", "stop_reasons": ["a", "b", "c"]},
        P=P,
    )
    sweep.mark("SCE", 9.0)
    sweep.mark("t-SNE", 1e6)
    sweep.save(tmp_path / "sweep.npz")
    back = Sweep.load(tmp_path / "sweep.npz")
    for name in ("frames", "log10_r", "ids", "alphas", "labels"):
        np.testing.assert_array_equal(getattr(back, name), getattr(sweep, name))
    assert back.frames.dtype == np.float32
    assert back.marks == {"SCE": Mark(9.0, 1), "t-SNE": Mark(1e6, None)}
    np.testing.assert_array_equal(back.figures["n_clusters"], [1.0, np.nan, 3.0])
    assert back.parameters == {"alpha": 0.5, "init": "array of shape (20, 2)"}
    assert (back.label_name, back.facts) == ("kind", sweep.facts)
    assert (back.P != P).nnz == 0
    assert Sweep.load(tmp_path / "sweep.npz", whole=False).P is None


def test_the_same_sweep_gives_the_same_bytes(tmp_path):
    """No date gets into the file."""
    sweep = made()
    for name in "ab":
        sweep.save(tmp_path / f"{name}.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


@given(st.lists(st.floats(-8, 8), min_size=1, max_size=9, unique=True), st.floats(-8, 8))
def test_a_mark_is_at_the_nearest_map_or_beyond(logs, log10_r):
    """Beyond, if it is outside of the sweep by more than half of the largest step."""
    logs = np.sort(logs)
    sweep = Sweep(np.zeros((len(logs), 1, 2), np.float32), logs, np.arange(1))
    sweep.mark("x", 10.0**log10_r)
    away = np.abs(logs - log10_r)
    step = np.diff(logs).max() if len(logs) > 1 else 0.0
    outside = max(logs[0] - log10_r, log10_r - logs[-1], 0.0)
    if abs(outside - step / 2) < 1e-9:
        return
    if outside > step / 2:
        assert sweep.marks["x"].frame is None
    else:
        assert away[sweep.marks["x"].frame] == pytest.approx(away.min(), abs=1e-9)


def test_a_frame_is_a_map(tmp_path):
    """With the labels and ids of the sweep, and its own r; it can be saved as such."""
    sweep = made(
        labels=np.arange(20) % 3, label_name="class", facts={"source": "x.csv", "stop_reasons": ["a", "b", "c"]}
    )
    one = sweep.map(2)
    one.save(tmp_path / "map.npz")
    back = sce.load(tmp_path / "map.npz")
    assert isinstance(back, Map)
    assert (sweep.frames[2] == back.Y).all()
    assert (back.r, back.label_name, back.facts) == (100.0, "class", {"source": "x.csv"})


def test_a_map_is_no_sweep_and_a_sweep_no_map(tmp_path):
    """Each says what it is, what opens it, and neither replaces the other."""
    sweep = made()
    sweep.save(tmp_path / "sweep.npz")
    sweep.map(0).save(tmp_path / "map.npz")
    assert isinstance(sce.load(tmp_path / "sweep.npz"), Sweep)
    assert isinstance(sce.load(tmp_path / "map.npz"), Map)
    with pytest.raises(
        InputError, match=r"sweep.npz is a sweep, not a map; open it with sce.load, or draw it with: sce plot"
    ):
        load_map(tmp_path / "sweep.npz")
    with pytest.raises(
        InputError, match=r"map.npz is a map, not a sweep; open it with sce.load, or draw it with: sce plot"
    ):
        Sweep.load(tmp_path / "map.npz")
    with pytest.raises(OutputError, match="exists and is not a map"):
        sweep.map(0).save(tmp_path / "sweep.npz")
    with pytest.raises(OutputError, match="exists and is not a sweep"):
        sweep.save(tmp_path / "map.npz")


def test_damage_is_named(tmp_path):
    """One sentence for each thing that is not as it should be."""
    path = tmp_path / "sweep.npz"
    made(figures={"n_clusters": np.arange(3.0)}, labels=np.arange(20)).save(path)
    with np.load(path) as file:
        arrays = dict(file)
    header = json.loads(str(arrays["sce_sweep"]))
    assert header["format"] == 1

    def broken(**other):
        np.savez(path, **{name: values for name, values in {**arrays, **other}.items() if values is not None})
        with pytest.raises(InputError) as error:
            Sweep.load(path)
        return str(error.value)

    assert "has no frames; create the sweep again" in broken(frames=None)
    assert "has no frames" in broken(frames=arrays["frames"][0])
    assert "3 maps, but not as many r or figures" in broken(log10_r=np.zeros(2))
    assert "3 maps, but not as many r or figures" in broken(figure_n_clusters=np.zeros(4))
    assert "no finite coordinates" in broken(frames=np.full((3, 20, 2), np.nan))
    assert "20 points, but labels of shape (19,)" in broken(labels=np.zeros(19))
    for bad in ({"SCE": {"r": -1}}, {"SCE": {"r": 1, "frame": 3}}, {"SCE": 5}, [1]):
        assert "damaged header" in broken(sce_sweep=np.array(json.dumps({**header, "marks": bad})))
    assert "later version" in broken(sce_sweep=np.array(json.dumps({**header, "format": 99})))


def test_what_could_not_be_read_again_is_not_saved(tmp_path):
    """Shapes that do not fit, and NaN."""
    for bad, message in (
        ({"frames": np.zeros((3, 20))}, "frames must be floating point numbers"),
        ({"log10_r": np.zeros(2)}, "log10_r must have one value for each of the 3 maps"),
        ({"figures": {"share": np.zeros(2)}}, "share must have one value for each of the 3 maps"),
        ({"ids": np.arange(3)}, "ids must have one value for each of the 20 points"),
        ({"labels": np.arange(3)}, "labels must have one value for each of the 20 points"),
        ({"frames": np.full((3, 20, 2), np.inf)}, "NaN or infinity"),
    ):
        with pytest.raises(InputError, match=message):
            made(**bad).save(tmp_path / "sweep.npz")
    assert not (tmp_path / "sweep.npz").exists()


def test_a_full_disk_keeps_the_old_sweep(small_disk):
    """And leaves no part of the new one."""
    path = small_disk / "sweep.npz"
    made().save(path)
    before = path.read_bytes()
    with pytest.raises(OutputError, match="the disk is full"):
        made(frames=np.zeros((3, 20, 2000), np.float32)).save(path)
    assert path.read_bytes() == before
    assert list(small_disk.iterdir()) == [path]


def test_a_sweep_says_what_it_is():
    """In a line."""
    sweep = made()
    sweep.mark("SCE", 2.0)
    assert repr(sweep) == "Sweep(3 maps of 20 points in 2 dimensions, log10 r from 0 to 2, SCE at r = 2)"
    assert len(sweep) == 3
