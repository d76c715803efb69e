"""The rules of the house, checked on the sources; and that each check notices when its rule is broken.

Every rule is a function from a folder of sources to the list of what breaks it. `test_the_house_keeps_its_rules` runs them on
sce, `test_a_broken_rule_is_noticed` on a small package in which somebody has just broken one.
"""

import ast
import itertools
import re
from pathlib import Path

import pytest

import sce
from processes import run

SOURCE = Path(sce.__file__).parent

# Which folder, or module at the top, may import which; imports inside functions and for types count.
MAY_IMPORT = {
    "errors": set(),
    "core": {"errors"},
    "data": {"errors", "core"},
    "graph": {"errors", "core"},
    "layout": {"errors", "core", "graph"},
    "engines": {"errors", "core", "graph", "layout"},
    "results": {"errors", "core", "data"},
    "warm": {"errors", "core", "graph", "layout", "engines"},
    "estimator": {"errors", "core", "graph", "layout", "engines", "warm"},
    "clusters": {"errors", "core", "graph"},
    "quality": {"errors", "core", "data", "graph", "clusters"},
    "sweeping": {"errors", "core", "data", "graph", "layout", "results", "estimator", "clusters", "quality"},
    "loading": {"errors", "core", "data", "results"},
    "tl": {"errors", "core", "layout", "results", "estimator"},
    "plot": {"errors", "core", "data", "graph", "results", "clusters", "quality"},
    "compare": {
        *(
            "errors",
            "core",
            "data",
            "graph",
            "layout",
            "engines",
            "results",
            "estimator",
            "clusters",
            "quality",
            "plot",
        ),
        "loading",
    },
    "web": {"errors", "core"},
    "explore": {
        *("errors", "core", "data", "graph", "layout", "engines", "results", "estimator", "clusters", "quality"),
        *("plot", "loading", "sweeping", "web"),
    },
    "cli": {
        *("errors", "core", "data", "graph", "layout", "engines", "results", "estimator", "clusters", "quality"),
        *("sweeping", "loading", "plot", "compare", "warm", "explore"),
    },
    "__main__": {"cli"},
}

# Products and random numbers whose results depend on a BLAS or on a hidden state, and why they may stay.
ALLOWED = {
    ("core/principal.py", "@"): "products of sparse rows: scipy sums them in the order of the rows, without a BLAS",
    ("layout/objective.py", "@"): "the reference objective in plain NumPy, which the tests compare with",
    ("layout/objective.py", "random"): "the paper's Algorithm 1 line by line, with NumPy's generator, for the tests",
    ("core/validate.py", "random"): "scikit-learn's random_state is turned into our seed",
    ("compare/peers.py", "random"): "umap-learn asks for a RandomState",
    ("warm.py", "random"): "data to compile kernels with; nobody sees what comes of them",
}

MOST_LINES_OF_A_FUNCTION, MOST_LINES_OF_A_MODULE, MOST_MODULES_AT_THE_TOP = 50, 400, 10
HEAVY = ("numpy", "numba", "scipy", "sklearn", "matplotlib", "pandas", "tqdm")

# Constants that mean the same wherever they are.
SHARED_CONSTANTS: dict[str, str] = {}


def modules(root):
    """(path relative to the root, syntax tree) of every module."""
    return [(path.relative_to(root), ast.parse(path.read_text())) for path in sorted(root.rglob("*.py"))]


def room(path):
    """The folder at the top that a module is in, or the module itself."""
    return path.parts[0].removesuffix(".py")


def imported(tree):
    """The names of modules of sce that a module imports, anywhere in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "sce")
        elif isinstance(node, ast.ImportFrom) and node.level:
            yield "a relative import"
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "sce":
            names = [alias.name for alias in node.names if (node.module, alias.name) != ("sce", "__version__")]
            yield from (f"{node.module}.{name}" for name in names)


def upward_imports(root):
    """Imports that the table does not allow."""
    broken = []
    for path, tree in modules(root):
        own = room(path)
        if own == "__init__":
            continue
        for name in imported(tree):
            parts = name.split(".")
            other = parts[1] if len(parts) > 1 else "__init__"
            if other != own and other not in MAY_IMPORT.get(own, set()):
                broken.append(f"{path} imports {name}")
    return broken


def cycles(root):
    """Folders that import one another, directly or not."""
    edges = {}
    for path, tree in modules(root):
        edges.setdefault(room(path), set()).update(name.split(".")[1] for name in imported(tree) if "." in name)
    edges.pop("__init__", None)
    reach = {name: set(others) - {name} for name, others in edges.items()}
    for _ in reach:
        for name, others in reach.items():
            reach[name] = others.union(*(reach.get(other, set()) for other in others))
    return [f"{name} imports itself by way of others" for name, others in reach.items() if name in others]


def module_cycles(root):
    """Modules that import one another when they are loaded."""
    names = {
        ".".join(("sce", *path.with_suffix("").parts)).removesuffix(".__init__"): tree for path, tree in modules(root)
    }
    edges = {}
    for name, tree in names.items():
        found = set()
        for node in tree.body:
            found |= {
                next((known for known in (one, one.rpartition(".")[0]) if known in names), name)
                for one in imported(node)
            }
        edges[name] = found - {name, "sce"}
    broken, done = [], set()

    def visit(name, way):
        if name in way:
            broken.append(" -> ".join([*way[way.index(name) :], name]))
        elif name not in done:
            for other in edges.get(name, ()):
                visit(other, [*way, name])
            done.add(name)

    for name in edges:
        visit(name, [])
    return broken


def _uses(tree):
    """(line, what) of products by BLAS, np.linalg and random generators."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult):
            yield node.lineno, "@"
        elif isinstance(node, ast.Attribute):
            if node.attr == "linalg" and isinstance(node.value, ast.Name) and node.value.id in ("np", "numpy", "scipy"):
                yield node.lineno, "linalg"
            elif node.attr in ("dot", "matmul", "einsum", "inner", "tensordot", "vdot") and isinstance(
                node.value, ast.Name
            ):
                if node.value.id in ("np", "numpy"):
                    yield node.lineno, "@"
            elif node.attr == "random" and isinstance(node.value, ast.Name) and node.value.id in ("np", "numpy"):
                yield node.lineno, "random"
        elif isinstance(node, ast.ImportFrom) and node.module in (
            "random",
            "numpy.random",
            "numpy.linalg",
            "scipy.linalg",
        ):
            yield node.lineno, node.module.split(".")[-1]
        elif (isinstance(node, ast.Name) and node.id == "check_random_state") or (
            isinstance(node, ast.Import) and any(alias.name == "random" for alias in node.names)
        ):
            yield node.lineno, "random"


def forbidden_arithmetic(root):
    """Uses of `@`, np.linalg and random generators that are not allowed with a reason."""
    return [
        f"{path}:{line} uses {what}"
        for path, tree in modules(root)
        for line, what in _uses(tree)
        if (path.as_posix(), what) not in ALLOWED
    ]


def oversized(root):
    """Functions and modules that are too long, and too many modules at the top."""
    broken = []
    for path, tree in modules(root):
        lines = len((root / path).read_text().splitlines())
        if lines > MOST_LINES_OF_A_MODULE:
            broken.append(f"{path} has {lines} lines")
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[1:] if ast.get_docstring(node) is not None else node.body
                length = node.end_lineno - body[0].lineno + 1 if body else 0
                if length > MOST_LINES_OF_A_FUNCTION:
                    broken.append(f"{path}:{node.lineno} {node.name} has {length} lines")
    top = [path.name for path in root.glob("*.py")]
    if len(top) > MOST_MODULES_AT_THE_TOP:
        broken.append(f"{len(top)} modules at the top")
    return broken


def undescribed_folders(root):
    """Folders whose __init__ does not say what lives there and what may not, in a few lines."""
    broken = []
    for folder in sorted(path for path in root.rglob("*") if path.is_dir() and any(path.glob("*.py"))):
        init = folder / "__init__.py"
        text = ast.get_docstring(ast.parse(init.read_text())) if init.exists() else None
        if not text or not 8 <= len(text.split()) <= 150:
            broken.append(f"{folder.relative_to(root)}/__init__.py")
    return broken


def names_used_twice(root):
    """Modules of the same name; the commands of the command line are named after what they call."""
    places = {}
    for path, _ in modules(root):
        if path.name != "__init__.py" and path.parts[:2] != ("cli", "commands"):
            places.setdefault(path.stem, []).append(str(path))
    return [f"{' and '.join(paths)}" for paths in places.values() if len(paths) > 1]


def constants_used_twice(root):
    """Constants of the same name in several modules."""
    places = {}
    for path, tree in modules(root):
        for node in tree.body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            for name in itertools.chain.from_iterable(
                t.elts if isinstance(t, ast.Tuple) else [t] for t in targets if t is not None
            ):
                if isinstance(name, ast.Name) and re.fullmatch(r"_?[A-Z][A-Z0-9_]+", name.id):
                    places.setdefault(name.id.lstrip("_"), set()).add(str(path))
    return [
        f"{name} in {', '.join(sorted(paths))}"
        for name, paths in sorted(places.items())
        if len(paths) > 1 and name not in SHARED_CONSTANTS
    ]


RULES = (
    upward_imports,
    cycles,
    module_cycles,
    forbidden_arithmetic,
    oversized,
    undescribed_folders,
    names_used_twice,
    constants_used_twice,
)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_house_keeps_its_rules(rule):
    """Nothing breaks it."""
    assert rule(SOURCE) == []


def test_every_room_is_in_the_table():
    """A new folder or module at the top has to say what it may import."""
    rooms = {
        path.name.removesuffix(".py") for path in SOURCE.iterdir() if path.suffix == ".py" or any(path.glob("*.py"))
    }
    assert rooms - {"__init__"} == set(MAY_IMPORT)


def test_every_exception_is_needed():
    """An entry of the allow-list that nothing uses any more is taken out."""
    used = {(path.as_posix(), what) for path, tree in modules(SOURCE) for _, what in _uses(tree)}
    assert set(ALLOWED) <= used


BROKEN = {
    "a lower room imports a higher one": ("graph/a.py", "import sce.layout.b\n", "upward_imports"),
    "inside a function": ("core/a.py", "def f():\n    from sce.graph import csr\n", "upward_imports"),
    "for types only": (
        "data/a.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from sce.graph.csr import CSR\n",
        "upward_imports",
    ),
    "through the public face": ("results/a.py", "from sce import SCE\n", "upward_imports"),
    "a relative import": ("core/a.py", "from ..graph import csr\n", "upward_imports"),
    "two rooms import one another": ("graph/a.py", "from sce.layout import b\n", "cycles"),
    "two modules import one another": ("layout/a.py", "from sce.layout.b import x\n", "module_cycles"),
    "a product": ("quality/a.py", "def f(A, B):\n    return A @ B\n", "forbidden_arithmetic"),
    "np.dot": ("quality/a.py", "import numpy as np\nx = np.dot(1, 2)\n", "forbidden_arithmetic"),
    "np.linalg": ("quality/a.py", "import numpy as np\nx = np.linalg.norm([1])\n", "forbidden_arithmetic"),
    "a generator": ("quality/a.py", "import numpy as np\nx = np.random.default_rng(0)\n", "forbidden_arithmetic"),
    "Python's generator": ("quality/a.py", "import random\n", "forbidden_arithmetic"),
    "a long function": ("core/a.py", "def f():\n" + "    x = 1\n" * 51, "oversized"),
    "a long module": ("core/a.py", "x = 1\n" * 401, "oversized"),
    "a folder that says nothing": ("core/inner/a.py", "", "undescribed_folders"),
    "two modules of one name": ("graph/b.py", "", "names_used_twice"),
    "two constants of one name": ("graph/a.py", "_LIMIT = 3\n", "constants_used_twice"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_rule_is_noticed(tmp_path, case):
    """A small house keeps all rules, until somebody adds one file."""
    for name in ("core", "data", "graph", "layout", "results", "quality"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text('"""What lives here, and what may not: a few words on both."""\n')
    (tmp_path / "layout" / "b.py").write_text("LIMIT = 2\nfrom sce.graph import c\nfrom sce.layout import a\nx = 1\n")
    assert [rule(tmp_path) for rule in RULES] == [[]] * len(RULES)
    path, text, rule = BROKEN[case]
    (tmp_path / path).parent.mkdir(exist_ok=True)
    (tmp_path / path).write_text(text)
    (broken,) = [check for check in RULES if check.__name__ == rule]
    assert len(broken(tmp_path)) >= 1


def test_importing_is_light():
    """`import sce` and `sce --help` load none of the large libraries."""
    loaded = f"print([name for name in {HEAVY} if name in sys.modules])"
    assert run(f"import sce, sys; {loaded}") == "[]"
    help_ = "import sys; from sce.cli.main import main; main(['--help']); main(['embed', '--help']);"
    assert run(f"{help_} {loaded}").splitlines()[-1] == "[]"


FORBIDDEN_IN_PAGES = (
    "innerHTML",
    "outerHTML",
    "insertAdjacentHTML",
    "document.write",
    "eval(",
    "new Function",
    "localStorage",
)


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("static/*.js")), ids=lambda path: path.name)
def test_scripts_of_pages_are_small_and_write_text_only(path):
    """At most 250 lines, a first line that says what the module is for, and nothing that would read text as HTML or code."""
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 250
    assert re.match(r"// [A-Z].*\.", text), "the first line says what the module is for"
    assert [word for word in FORBIDDEN_IN_PAGES if word in text] == []
