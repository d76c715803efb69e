"""Files are written whole or not at all."""

import os
import subprocess

import pytest

from sce.core.write import atomic, check_writable
from sce.errors import OutputError


def test_a_file_appears_when_it_is_complete(tmp_path):
    """And not before; what was there until then stays."""
    path = tmp_path / "a.txt"
    path.write_text("old")
    with atomic(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_leaves_nothing(tmp_path):
    """Neither a part of the new file nor a hole in the place of the old one."""
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), atomic(path) as file:
        file.write(bytes(100 // (file.write(b"half") - 4)))
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_links_stay_links(tmp_path):
    """The file that a link points to is replaced."""
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    with atomic(tmp_path / "link.txt") as file:
        file.write(b"new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


def test_files_have_the_usual_permissions(tmp_path):
    """Those of the user's mask, not those of a private temporary file."""
    old = os.umask(0o022)
    try:
        with atomic(tmp_path / "a.txt") as file:
            file.write(b"x")
    finally:
        os.umask(old)
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == 0o644


def test_a_full_disk(small_disk):
    """One sentence, and nothing is left."""
    path = small_disk / "a.npz"
    message = r"a\.npz cannot be written: the disk is full; nothing was left there"
    with pytest.raises(OutputError, match=message), atomic(path) as file:
        file.write(bytes(1 << 20))
    assert list(small_disk.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("map.png", r"The name .*map.png must end in .npz"),
        ("folder.npz", "folder.npz is a folder"),
        ("nowhere/map.npz", "The folder .*nowhere does not exist; create it first: mkdir -p"),
        ("file.txt/map.npz", "The folder .*file.txt does not exist"),
        ("data.npz", "is the file that is being read"),
        ("x" * 300 + ".npz", "cannot be written: file name too long"),
        ("a\0b.npz", "cannot be written"),
    ],
)
def test_places_where_nothing_can_be_written(tmp_path, name, message):
    """Known before the work."""
    (tmp_path / "folder.npz").mkdir()
    (tmp_path / "file.txt").write_text("")
    (tmp_path / "data.npz").write_text("")
    with pytest.raises(OutputError, match=message):
        check_writable(tmp_path / name, [".npz"], [tmp_path / "data.npz"])


def test_a_folder_without_permission(tmp_path):
    """A file system that is read-only, even for root."""
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", tmp_path], check=False, capture_output=True
    ).returncode:
        pytest.skip("needs the right to mount a read-only folder")
    try:
        with pytest.raises(OutputError, match="no permission to write to"):
            check_writable(tmp_path / "a.npz", [".npz"])
    finally:
        subprocess.run(["umount", tmp_path], check=True)
