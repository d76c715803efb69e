"""Which sources a module depends on, and the state they are in."""

import pytest

from sce.core.sources import Sources, own_sources


@pytest.fixture
def package(tmp_path):
    """A small package: a imports b at the top and c in a function, which imports d from a folder; e is alone."""
    for name, text in {
        "__init__.py": "",
        "a.py": "from sce.b import x\n\ndef f():\n    from sce.c import (\n        y,\n        z,\n    )\n",
        "b.py": "x = 1\n",
        "c.py": "from sce.folder import d\n",
        "folder/__init__.py": "",
        "folder/d.py": "import sce.b\n",
        "e.py": "# from sce.b import x\nimport numpy\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_imports_are_followed_wherever_they_stand(package):
    """At the top, in functions, over several lines, a module imported from a folder; comments are none."""
    sources = Sources(package)
    assert sources.imported_by(["sce.a"]) == {"sce.a", "sce.b", "sce.c", "sce.folder", "sce.folder.d"}
    assert sources.imported_by(["sce.e"]) == {"sce.e"}


@pytest.mark.parametrize(("file", "changed"), [("folder/d.py", True), ("b.py", True), ("e.py", False)])
def test_the_state_changes_with_what_is_imported(package, file, changed):
    """And with nothing else."""
    before = Sources(package)
    (package / file).write_text("x = 2\nimport sce.b\n")
    after = Sources(package)
    states = [sources.state(sources.imported_by(["sce.a"])) for sources in (before, after)]
    assert (states[0] != states[1]) == changed


def test_kernels_depend_on_what_they_call():
    """The sampler's kernel on random numbers and vector code; the command line on none of the kernels' cache."""
    sources = own_sources()
    needed = sources.imported_by(["sce.layout.sampler.kernel"])
    assert {"sce.core.random", "sce.core.simd", "sce.core.compiled", "sce.layout.sampler.blocks"} <= needed
    kernels = sources.imported_by(sources.containing(b"@kernel"))
    assert "sce.cli.main" not in kernels
    assert "sce.plot.scatter" not in kernels
