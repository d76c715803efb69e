"""What the benchmarks import from sce is there: they run too long for the tests, and renames would break them unseen."""

import ast
import importlib
from pathlib import Path

import pytest

BENCHMARKS = sorted((Path(__file__).parent.parent / "benchmarks").glob("*.py"))
pytestmark = pytest.mark.skipif(not BENCHMARKS, reason="the tests run without the benchmarks")


def imports(path):
    """(module, name) of everything that a script takes from sce, also inside functions; the name is None for a module."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names if alias.name.split(".")[0] == "sce")
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "sce":
            yield from ((node.module, alias.name) for alias in node.names)


def there(module, name):
    """Whether a module of sce exists and has a name, or a module of that name."""
    try:
        found = importlib.import_module(module)
        return name is None or hasattr(found, name) or importlib.import_module(f"{module}.{name}") is not None
    except ImportError:
        return False


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.stem)
def test_what_a_benchmark_imports_is_there(path):
    """Every name, even of a script whose peers are not installed."""
    assert [(module, name) for module, name in imports(path) if not there(module, name)] == []


def test_a_missing_name_is_noticed(tmp_path):
    """A rename in sce would be."""
    script = tmp_path / "script.py"
    script.write_text(
        "from sce.graph import index\ndef f():\n    from sce.graph.index import bild_index\nimport sce.grph\n"
    )
    missing = [(module, name) for module, name in imports(script) if not there(module, name)]
    assert missing == [("sce.grph", None), ("sce.graph.index", "bild_index")]
