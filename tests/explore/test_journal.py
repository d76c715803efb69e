"""The file of named clusters: what it says is what was done, whatever becomes of its last line or of other processes."""

import contextlib
import errno
import json
import os
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_naming import operations

from sce.errors import InputError, OutputError
from sce.explore.journal import journal_path
from sce.explore.keeper import Keeper, StaleError
from sce.explore.operations import NamingError
from sce.explore.row_names import RowNames, ranges_of, rows_of_ranges

N = 12
TEXT_IDS = np.array([f"cell, {k} é" for k in range(N)])


def state(keeper):
    document = keeper.document
    return (
        document.codes.tolist(),
        [(c.id, c.name, c.color, dict(c.made)) for c in document.clusters],
        document.revision,
    )


def create(name, rows):
    return {
        "kind": "create",
        "name": name,
        "rows": np.array(rows),
        "made": {"tool": "lasso", "shape": [[0.5, 1], [2, 3]]},
    }


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.map.npz"


def keeper_with(path, *ops, ids=None):
    keeper = Keeper(path, np.arange(N) if ids is None else ids)
    for op in ops:
        keeper.submit(keeper.document.revision, op)
    return keeper


@settings(max_examples=60)
@given(ops=st.lists(operations, max_size=12), by_id=st.booleans())
def test_reading_the_file_gives_the_state(tmp_path_factory, ops, by_id):
    """Replay is what was done, also undo and redo, whether rows are written by number or by id."""
    path = tmp_path_factory.mktemp("journal") / "a.npz"
    ids = TEXT_IDS if by_id else np.arange(N)
    keeper = Keeper(path, ids)
    for op in ops:
        with contextlib.suppress(NamingError):
            keeper.submit(keeper.document.revision, op)
    before = state(keeper)
    keeper.close()
    again = Keeper(path, ids)
    assert state(again) == before
    again.close()


@settings(max_examples=60)
@given(cut=st.integers(1, 10_000), ops=st.lists(operations, min_size=1, max_size=6))
def test_any_truncation_of_the_last_line_is_survived(tmp_path_factory, cut, ops):
    """What remains is the state before the last operation, or after it; and work goes on."""
    path = tmp_path_factory.mktemp("journal") / "a.npz"
    keeper = keeper_with(path, create("first", [1, 2, 3]))
    states = [state(keeper)]
    for op in ops:
        with contextlib.suppress(NamingError):
            keeper.submit(keeper.document.revision, op)
            states.append(state(keeper))
    keeper.close()
    file = journal_path(path)
    content = file.read_bytes()
    last = content.rstrip(b"\n").rfind(b"\n") + 1
    file.write_bytes(content[: last + (cut - 1) % (len(content) - last)])
    again = Keeper(path, np.arange(N))
    left = len(states) - 2
    assert state(again) in ([states[left]] if left >= 0 else [([-1] * N, [], 0)]) + [states[-1]]
    again.submit(again.document.revision, create("more", [0]))
    now = state(again)
    again.close()
    assert state(Keeper(path, np.arange(N))) == now


def test_the_file_says_how_each_cluster_was_made(path):
    """A colleague reads tool, shape and row ids in it."""
    keeper_with(path, create("odd", [1, 3, 5, 6, 7]), ids=TEXT_IDS).close()
    header, line = map(json.loads, journal_path(path).read_text(encoding="utf-8").splitlines())
    assert (header["format"], header["map"], header["n"], header["rows"]) == (1, "a.map.npz", N, "ids")
    assert line["op"]["rows"] == TEXT_IDS[[1, 3, 5, 6, 7]].tolist()
    assert line["op"]["made"] == {
        "tool": "lasso",
        "parent": None,
        "shape": [[0.5, 1], [2, 3]],
        "frame": None,
        "how": "replace",
    }
    assert line["revision"] == 1


def test_rows_are_ranges_where_ids_count(path):
    """0, 1, 2, ... are written in short; ids that occur twice cannot be used either."""
    keeper_with(path, create("odd", [1, 3, 5, 6, 7])).close()
    assert json.loads(journal_path(path).read_text().splitlines()[1])["op"]["rows"] == "1,3,5-7"
    assert RowNames(np.array(["a", "a"])).write(np.array([1])) == "1"


@given(st.lists(st.integers(0, 99), min_size=1).map(lambda rows: np.unique(rows)))
def test_ranges_are_read_as_they_were_written(rows):
    """Whatever the rows."""
    assert rows_of_ranges(ranges_of(rows), 100).tolist() == rows.tolist()


@pytest.mark.parametrize("text", ["", "5", "3-1", "1,1", "4-9", "-1", "1,,2", "a", "1-99999999999999999999", 3, ["0"]])
def test_damaged_ranges_are_refused(text):
    """Ranges are ascending and within the rows."""
    with pytest.raises(NamingError):
        rows_of_ranges(text, 5)


def test_a_stale_operation_changes_nothing(path):
    """Two windows do not overwrite one another silently."""
    keeper = keeper_with(path, create("a", [1]))
    before, size = state(keeper), journal_path(path).stat().st_size
    for base in (0, 2, None, "1", True):
        with pytest.raises(StaleError):
            keeper.submit(base, create("b", [2]))
    assert state(keeper) == before
    assert journal_path(path).stat().st_size == size


def test_a_refused_operation_is_not_written(path):
    """An operation that makes no sense leaves no line, and what is unknown leaves no trace in one."""
    keeper = keeper_with(path, {**create("a", [1]), "color": "#00FF00", "stranger": "\ud800"})
    size = journal_path(path).stat().st_size
    with pytest.raises(NamingError):
        keeper.submit(1, create("a", [2]))
    assert journal_path(path).stat().st_size == size
    assert "stranger" not in journal_path(path).read_text(encoding="utf-8")


def test_looking_leaves_no_file(path):
    """The file is there from the first operation on, for its owner only, whatever the umask."""
    Keeper(path, np.arange(N)).close()
    assert not journal_path(path).exists()
    old = os.umask(0)
    try:
        keeper_with(path, create("a", [1])).close()
    finally:
        os.umask(old)
    assert journal_path(path).stat().st_mode & 0o777 == 0o600


def test_a_second_keeper_reads(path):
    """It says why it cannot name clusters, sees those of the first, and may name some when the first has ended."""
    first = keeper_with(path, create("a", [1]))
    second = Keeper(path, np.arange(N))
    assert not second.writable
    assert "another explorer" in second.note
    with pytest.raises(OutputError, match="another explorer"):
        second.submit(1, create("b", [2]))
    assert state(second) == state(first)
    first.submit(1, create("b", [2]))
    assert len(second.refreshed().clusters) == 2
    first.close()
    assert len(second.refreshed().clusters) == 2
    assert second.writable
    second.submit(2, create("c", [3]))
    second.close()


def test_two_that_begin_at_once(path):
    """Of two explorers that saw no file, the first to name a cluster may go on; the other is told, and has lost nothing."""
    first, second = Keeper(path, np.arange(N)), Keeper(path, np.arange(N))
    first.submit(0, create("a", [1]))
    with pytest.raises(OutputError, match="Another explorer"):
        second.submit(0, create("b", [2]))
    assert second.document.revision == 0
    assert [cluster.name for cluster in second.refreshed().clusters] == ["a"]
    first.close()


def test_a_lock_ends_with_its_process(path):
    """Also if that is killed."""
    code = f"""
        import os, numpy as np
        from pathlib import Path
        from sce.explore.keeper import Keeper
        keeper = Keeper(Path({str(path)!r}), np.arange({N}))
        keeper.submit(0, {{"kind": "create", "name": "a", "rows": np.array([1]), "made": None}})
        print("saved", flush=True)
        input()
    """
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with child:
        assert child.stdout.readline() == "saved\n"
        assert not Keeper(path, np.arange(N)).writable
        child.kill()
    keeper = Keeper(path, np.arange(N))
    assert keeper.writable
    assert [cluster.name for cluster in keeper.document.clusters] == ["a"]
    keeper.close()


def test_a_link_is_not_followed(path, tmp_path):
    """Nor anything that is no file."""
    target = tmp_path / "precious"
    target.write_text("")
    journal_path(path).symlink_to(target)
    with pytest.raises(InputError, match="is a link"):
        Keeper(path, np.arange(N))
    journal_path(path).unlink()
    journal_path(path).symlink_to(tmp_path / "nowhere")
    with pytest.raises(InputError, match="is a link"):
        Keeper(path, np.arange(N))
    assert not (tmp_path / "nowhere").exists()
    journal_path(path).unlink()
    os.mkfifo(journal_path(path))
    with pytest.raises(InputError):
        Keeper(path, np.arange(N))


def test_a_link_that_comes_later_is_not_followed(path, tmp_path):
    """One that somebody puts there between opening and the first operation."""
    keeper = Keeper(path, np.arange(N))
    journal_path(path).symlink_to(tmp_path / "nowhere")
    with pytest.raises(OutputError):
        keeper.submit(0, create("a", [1]))
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("how", ["removed", "replaced", "appended"])
def test_a_file_that_others_changed_is_not_written_to(path, how):
    """Saved means in the file of that name, after what was known."""
    keeper = keeper_with(path, create("a", [1]))
    file = journal_path(path)
    if how == "appended":
        with file.open("a") as other:
            other.write("{}\n")
    else:
        file.rename(file.with_suffix(".old"))
        if how == "replaced":
            file.write_text("")
    with pytest.raises(OutputError, match="moved or changed"):
        keeper.submit(1, create("b", [2]))
    assert keeper.document.revision == 1
    assert not keeper.writable
    keeper.close()


def test_a_full_disk_loses_nothing(small_disk):
    """What does not fit is not acknowledged and not in the file; what did fit stays, and smaller things still do."""
    path, ids = small_disk / "a.npz", np.arange(60_000)
    keeper = Keeper(path, ids)
    keeper.submit(0, {**create("a", [1]), "rows": np.arange(0, 20_000, 2)})
    with pytest.raises(OutputError, match="the disk is full"):
        keeper.submit(1, {**create("b", [1]), "rows": np.arange(1, 20_001, 2)})
    assert keeper.document.revision == 1
    keeper.submit(1, create("small", [3]))
    before = state(keeper)
    keeper.close()
    again = Keeper(path, ids)
    assert state(again) == before
    again.close()


def test_a_disk_that_does_not_confirm_is_not_called_saved(path, monkeypatch):
    """An operation counts once fsync has returned; if it fails, the operation is taken back from the file."""
    keeper = keeper_with(path, create("a", [1]))
    content, calls = journal_path(path).read_bytes(), []

    def fail_once(file):
        calls.append(file)
        if len(calls) == 1:
            raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail_once)
    with pytest.raises(OutputError, match="nothing was changed"):
        keeper.submit(1, create("b", [2]))
    assert journal_path(path).read_bytes() == content
    assert keeper.document.revision == 1
    keeper.submit(1, create("c", [3]))
    assert len(calls) == 3
    keeper.close()
    assert [cluster.name for cluster in Keeper(path, np.arange(N)).document.clusters] == ["a", "c"]


def test_of_operations_at_once_one_is_done(path):
    """Eight threads on the same revision: one is saved, seven are stale."""
    keeper = Keeper(path, np.arange(N))

    def attempt(k):
        try:
            keeper.submit(0, create(f"c{k}", [k]))
        except StaleError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(8))) == 1
    keeper.close()
    assert Keeper(path, np.arange(N)).document.revision == 1


@pytest.mark.parametrize(
    ("line", "damage", "said"),
    [
        (2, "{", "line 2, which is not JSON"),
        (2, '{"revision":7,"op":{"kind":"undo"}}', "line 2, which is not operation 1"),
        (2, '{"revision":1,"op":{"kind":"undo"}}', "line 2: There is nothing to undo"),
        (2, '{"revision":1,"op":{"kind":"create","name":"a","rows":"99"}}', "line 2: rows must be ascending"),
        (2, '{"revision":1,"op":{"kind":"create","name":"a","rows":NaN}}', "line 2, which is not JSON"),
        (2, "[" * 100_000, "line 2, which is not JSON"),
        (1, '{"format":99,"ids_sha256":""}', "later version"),
        (1, "[]", "not a file of named clusters"),
        (1, '{"format":1,"n":5,"map":"b","rows":"numbers","ids_sha256":"0"}', "other rows"),
    ],
)
def test_a_damaged_line_is_a_sentence_with_its_number(path, line, damage, said):
    """Nothing is written to such a file."""
    keeper_with(path, create("a", [1]), create("b", [2])).close()
    file = journal_path(path)
    lines = file.read_text().splitlines()
    lines[line - 1] = damage
    file.write_text("\n".join(lines) + "\n")
    content = file.read_bytes()
    with pytest.raises(InputError, match=said) as error:
        Keeper(path, np.arange(N))
    assert "\n" not in str(error.value)
    assert file.read_bytes() == content


def test_another_file_of_that_name_is_not_touched(path):
    """Text without a line end is no incomplete journal."""
    journal_path(path).write_text("my notes")
    with pytest.raises(InputError, match="not a file of named clusters"):
        Keeper(path, np.arange(N))
    assert journal_path(path).read_text() == "my notes"


def test_clusters_follow_the_rows_to_a_new_map(path):
    """The file belongs to the rows, not to their coordinates: the map may be made again under another name of a folder."""
    keeper_with(path, create("a", [1])).close()
    with pytest.raises(InputError, match="other rows"):
        Keeper(path, np.arange(1, N + 1))
    with pytest.raises(InputError, match="other rows"):
        Keeper(path, np.arange(N + 1))
    journal_path(path).rename(journal_path(path.with_name("b.npz")))
    assert len(Keeper(path.with_name("b.npz"), np.arange(N)).document.clusters) == 1


def test_a_folder_without_permission_only_shows(path, monkeypatch):
    """It says so before anybody has named anything."""
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    keeper = Keeper(path, np.arange(N))
    assert not keeper.writable
    assert "no permission" in keeper.note
