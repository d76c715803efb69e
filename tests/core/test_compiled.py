"""Compiled kernels: kept on disk, wherever there is a place for them."""

import os
import shutil
import stat
from pathlib import Path

import pytest

import sce
from processes import run
from sce.core import compiled

# A few kernels: a whole fit takes a minute to compile, and compiles no other way.
SEARCH = """
import numpy as np
import sce
from sce.core.parallel import Team
from sce.graph.index import nearest_neighbors
near = nearest_neighbors(np.arange(60.0)[:, None], 3, team=Team(1))
print(sce.__file__, near.distances[0].tolist())
"""


@pytest.fixture
def locked_package(tmp_path):
    """A copy of the package that nobody, not even root, can write kernels beside."""
    folder = tmp_path / "site"
    shutil.copytree(Path(sce.__file__).parent, folder / "sce", ignore=shutil.ignore_patterns("__pycache__"))
    for package in [folder / "sce", *(p for p in (folder / "sce").rglob("*") if p.is_dir())]:
        (package / "__pycache__").touch()  # a file where a folder would have to be
    return folder


def test_read_only_installation_without_a_home_uses_the_temporary_folder(locked_package, tmp_path):
    """Kernels go to a private folder under the temporary one, and are found there by the next process."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = {
        "PYTHONPATH": str(locked_package), "HOME": "/dev/null/nobody", "XDG_CACHE_HOME": "/dev/null/nobody",
        "TMPDIR": str(temporary), "PYTHONDONTWRITEBYTECODE": "1", "NUMBA_CACHE_DIR": None,
    }  # fmt: skip
    for _ in range(2):
        assert run(SEARCH, cwd=tmp_path, **environment) == f"{locked_package}/sce/__init__.py [1.0, 2.0, 3.0]"
    (folder,) = temporary.glob("sce-*")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert list(folder.rglob("*.nbc"))


def test_no_place_at_all_still_runs(locked_package, tmp_path):
    """Without any folder to write to, kernels are compiled and not kept."""
    environment = {
        "PYTHONPATH": str(locked_package), "HOME": "/dev/null/nobody", "XDG_CACHE_HOME": "/dev/null/nobody",
        "PYTHONDONTWRITEBYTECODE": "1", "NUMBA_CACHE_DIR": None,
    }  # fmt: skip
    code = "import tempfile; tempfile.tempdir = '/dev/null/nowhere'\n" + SEARCH
    assert run(code, cwd=tmp_path, **environment) == f"{locked_package}/sce/__init__.py [1.0, 2.0, 3.0]"


def test_a_temporary_folder_that_others_can_write_is_not_trusted(tmp_path, monkeypatch):
    """A cache holds code: a folder that is open to others, or a link, is refused."""
    monkeypatch.setattr(compiled.tempfile, "gettempdir", lambda: str(tmp_path))
    folder = compiled.private_temporary_folder()
    assert folder.parent == tmp_path
    folder.chmod(0o777)
    assert compiled.private_temporary_folder() is None
    folder.rmdir()
    folder.symlink_to(tmp_path)
    assert compiled.private_temporary_folder() is None


def test_other_libraries_keep_their_cache_folder():
    """numba's own setting is what it was after our kernels are made."""
    import numba

    before = numba.config.CACHE_DIR
    compiled.kernel(lambda x: x)
    assert before == numba.config.CACHE_DIR


def test_an_upgrade_forgets_the_old_kernels(tmp_path):
    """A change in a file that a kernel only calls into is seen: the kernels live in a folder named after all sources."""
    folder = tmp_path / "site"
    shutil.copytree(Path(sce.__file__).parent, folder / "sce", ignore=shutil.ignore_patterns("__pycache__"))
    code = "import numpy as np; from sce.layout.sampler.blocks import _bucket_number as b; from sce.core.random import below;"
    code += "from sce.layout.sampler.kernel import weighted_place; print(below(np.uint64(1) << np.uint64(63), 10))"
    environment = {"PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": None, "PYTHONDONTWRITEBYTECODE": "1"}
    assert run(code, cwd=tmp_path, **environment) == "5"
    cache = folder / "sce" / "__pycache__"
    (old,) = cache.glob("sce-kernels-*")
    os.utime(old, (0, 0))
    source = folder / "sce" / "core" / "random.py"
    source.write_text(source.read_text().replace("np.uint64(n)) >> _S32)", "np.uint64(n)) >> _S32) + 100"))
    assert run(code, cwd=tmp_path, **environment) == "105"
    (new,) = cache.glob("sce-kernels-*")
    assert new != old


@pytest.mark.slow
def test_the_process_that_compiles_gets_the_same_bytes(tmp_path):
    """As all later ones, which find the kernels on disk: for forest, trees, entropic graph, sampler and full gradient."""
    code = """
import hashlib, numpy as np
from sce import SCE
rng = np.random.default_rng(0)
wide, flat = rng.normal(size=(6000, 40)), rng.normal(size=(5000, 3))
for X, options in (
    (wide, {"n_epochs": 3, "optimizer": "sampler"}),
    (wide, {"n_epochs": 3, "optimizer": "sampler", "metric": "manhattan"}),
    (flat, {"n_epochs": 12, "optimizer": "gradient", "affinity": "entropic", "scale": 500.0}),
    (flat[:300], {"n_epochs": 20, "scale": "sne"}),
    (flat, {"n_epochs": 4, "optimizer": "gradient", "n_components": 3}),
):
    Y = SCE(random_state=0, n_jobs=2, **options).fit_transform(X)
    print(hashlib.sha256(Y.tobytes()).hexdigest()[:12], end=" ")
"""
    first = run(code, NUMBA_CACHE_DIR=str(tmp_path), timeout=600)
    assert list(tmp_path.rglob("*.nbc"))
    assert run(code, NUMBA_CACHE_DIR=str(tmp_path)) == first


DRAW = "import numpy as np; from sce.core.random import bits; print(bits(np.uint64(1), np.uint64(2)))"


@pytest.mark.parametrize("length", [0, 20])
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_a_broken_file_is_compiled_anew(tmp_path, ending, length):
    """An empty or cut-off index or kernel, as a killed process or a full disk leaves it; it is whole again afterwards."""
    drawn = run(DRAW, NUMBA_CACHE_DIR=str(tmp_path))
    (file,) = tmp_path.rglob(f"random.bits*.{ending}")
    whole = file.stat().st_size
    file.write_bytes(file.read_bytes()[:length])
    assert run(DRAW, NUMBA_CACHE_DIR=str(tmp_path)) == drawn
    assert abs(file.stat().st_size - whole) < 100
    assert run(DRAW + "; print(bits.stats.cache_hits)", NUMBA_CACHE_DIR=str(tmp_path)).split()[0] == drawn


def test_a_full_disk_is_no_error(tmp_path):
    """What cannot be kept is compiled again by the next process."""
    full = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
    assert run(full + DRAW, NUMBA_CACHE_DIR=str(tmp_path)) == run(DRAW, NUMBA_CACHE_DIR=str(tmp_path))


def test_compiling_is_said_once(tmp_path):
    """To whoever watches, before the first kernel that is not on disk; and never again in this environment."""
    watched = "import sys, sce.core.progress as p; p.is_watched = lambda stream: True; sys.stderr = sys.stdout\n"
    two = watched + DRAW + "; from sce.core.random import unit; unit(np.uint64(3))"
    first = run(two, NUMBA_CACHE_DIR=str(tmp_path)).splitlines()
    assert first[0] == "Compiling, once per environment."
    assert run(two, NUMBA_CACHE_DIR=str(tmp_path)).splitlines() == first[1:]


def test_a_verbose_fit_says_that_it_compiles(tmp_path):
    """In a log, too, which nobody watches: the lines of its stages alone would not say why they took so long."""
    code = "import sys, numpy as np; sys.stderr = sys.stdout; from sce import SCE\n"
    code += "SCE(verbose={}, random_state=0, n_jobs=1).fit(np.eye(30))"
    assert run(code.format(True), NUMBA_CACHE_DIR=str(tmp_path)).startswith("Compiling, once per environment.\n")
    assert "Compiling" not in run(code.format(True), NUMBA_CACHE_DIR=str(tmp_path))
    assert "Compiling" not in run(code.format(False), NUMBA_CACHE_DIR=str(tmp_path / "new"))


def test_a_quiet_command_does_not_say_that_it_compiles(tmp_path):
    """Not even from its threads."""
    code = """
import sys, numpy as np, sce.core.progress as p
from sce.core.parallel import Team
from sce.core.random import unit
p.is_watched, sys.stderr = lambda stream: True, sys.stdout
with p.silence(), Team(2) as team:
    team.split(lambda start, stop: unit(np.uint64(3)), 2)
"""
    assert run(code, NUMBA_CACHE_DIR=str(tmp_path)) == ""
