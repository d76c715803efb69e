"""What the benchmarks take from sce is there: they run too long for the tests, and renames would break them unseen."""

import ast
import importlib
import operator
import re
from pathlib import Path

import pytest

BENCHMARKS = sorted((Path(__file__).parent.parent / "benchmarks").glob("*.py"))
PLACE = re.compile(
    r"(sce(?:\.\w+)*):(\w+(?:\.\w+)*)"
)  # "sce.layout.lay_out:Sampler": what a benchmark wraps to time it
pytestmark = pytest.mark.skipif(not BENCHMARKS, reason="the tests run without the benchmarks")


def taken(path):
    """(module, name) of all that a script takes from sce, also inside functions; the name is None for a module."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names if alias.name.split(".")[0] == "sce")
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "sce":
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and (place := PLACE.fullmatch(node.value)):
            yield place.groups()


def there(module, name):
    """Whether a module of sce exists and has a name, or a module of that name."""
    try:
        found = importlib.import_module(module)
        if name is None:
            return True
        if not hasattr(found, name.split(".")[0]):
            importlib.import_module(f"{module}.{name}")
        else:
            operator.attrgetter(name)(found)
    except (ImportError, AttributeError):
        return False
    return True


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.stem)
def test_what_a_benchmark_takes_is_there(path):
    """Every name, even of a script whose peers are not installed."""
    assert [(module, name) for module, name in taken(path) if not there(module, name)] == []


def test_a_missing_name_is_noticed(tmp_path):
    """A rename in sce would be."""
    script = tmp_path / "script.py"
    script.write_text(
        "from sce.graph import index\ndef f():\n    from sce.graph.index import bild_index\nimport sce.grph\n"
        "wrap('sce.layout.lay_out:Sampler')\nwrap('sce.core.progress:Reporter.epoks')\n"
    )
    missing = {(module, name) for module, name in taken(script) if not there(module, name)}
    assert missing == {
        ("sce.grph", None), ("sce.graph.index", "bild_index"), ("sce.core.progress", "Reporter.epoks"),
    }  # fmt: skip
