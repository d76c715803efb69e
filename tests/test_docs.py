"""What the README and the documentation show is run, as written."""

import re
import shlex
from pathlib import Path

import pytest

from processes import run

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
pytestmark = pytest.mark.skipif(not README.exists(), reason="the tests run without the README")


def blocks(path, language):
    """The blocks of a language in a Markdown file."""
    return re.findall(rf"```{language}\n(.*?)```", path.read_text(), flags=re.DOTALL)


def commands(script, folder):
    """Run lines of `sce ...` in a folder, one after the other in a process of their own: to start it takes seconds."""
    lines = [shlex.split(line, comments=True) for line in script.splitlines()]
    assert all(words[0] == "sce" for words in lines if words), "the README has a line that is no command of sce"
    code = f"""
import warnings
from sce.cli.main import main
for words in {[words[1:] for words in lines if words]!r}:
    warnings.resetwarnings()
    assert main(words) == 0, words
"""
    return run(code, cwd=folder, PYTHONPATH=str(ROOT / "src"))


def test_readme_runs(tmp_path):
    """All blocks, Python first because the shell goes on with what it leaves, in fresh processes and an empty folder."""
    python = blocks(README, "python")
    assert len(python) >= 3
    out = run("\n".join(python), cwd=tmp_path, PYTHONPATH=str(ROOT / "src"))
    assert out.startswith("r = 17.")
    scripts = [script for script in blocks(README, "sh") if not script.startswith("make")]
    assert len(scripts) == 2
    out = commands("\n".join(scripts), tmp_path)
    assert "look at digits.png" in out
    for name in ("map.png", "digits.png", "tight.svg", "found.png", "tight.csv", "graph-map.png"):
        assert (tmp_path / name).stat().st_size > 10_000, name


@pytest.mark.parametrize("path", sorted((ROOT / "docs").glob("*.md")), ids=lambda path: path.name)
def test_python_of_the_documentation_runs(path, tmp_path):
    """Each page by itself."""
    code = "\n".join(blocks(path, "python"))
    if code:
        run(code, cwd=tmp_path, PYTHONPATH=str(ROOT / "src"))


def test_links_lead_somewhere():
    """To files that are there."""
    for page in (README, ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), (page.name, target)


def test_commands_of_the_readme_are_in_the_makefile():
    """`make demo` and `make test`."""
    makefile = (ROOT / "Makefile").read_text()
    for command in re.findall(r"^make (\S+)", README.read_text(), flags=re.MULTILINE):
        assert f"\n{command}:" in makefile
