"""What the README shows is run, as written."""

import re
from pathlib import Path

import pytest

from processes import run

README = Path(__file__).parent.parent / "README.md"


@pytest.mark.skipif(not README.exists(), reason="the tests run without the README")
def test_python_of_the_readme_runs(tmp_path):
    """All Python blocks, one after the other, in a fresh process and an empty folder."""
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)
    assert len(blocks) >= 3
    source = Path(__file__).parent.parent / "src"
    out = run("\n".join(blocks), cwd=tmp_path, PYTHONPATH=str(source))
    assert out.startswith("r = 1.9")
    assert (tmp_path / "map.png").stat().st_size > 10_000


def test_commands_of_the_readme_are_in_the_makefile():
    """`make demo` and `make test`."""
    makefile = (README.parent / "Makefile").read_text()
    for command in re.findall(r"^make (\S+)", README.read_text(), flags=re.MULTILINE):
        assert f"\n{command}:" in makefile
