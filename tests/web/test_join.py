"""One script of several modules, and one file of a page."""

import base64
import gzip
import hashlib
import html.parser
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import sce
from sce.errors import InputError
from sce.web.javascript import tokens
from sce.web.join import join_modules, page, take_apart

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node runs the script, and is not installed")
OUR_MODULES = sorted(Path(sce.__file__).parent.glob("*/static/*.js"))


def run_script(script):
    """What a script prints, run as a classic script."""
    code = "require('vm').runInThisContext(require('fs').readFileSync(0, 'utf8'))"
    done = subprocess.run(
        ["node", "-e", f"globalThis.print = (...xs) => console.log(JSON.stringify(xs)); {code}"],
        input=script,
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.strip("\n").split("\n")]


MODULES = {
    "app.js": """
import { area, Point as P } from "./shapes.js";
import {
  count,
  next,
} from "./state.js";
import { total } from "./sum.js";
print(area(new P(2, 3)), count, next(), next(), total([1, 2, 3]));
export async function later() { await null; return import_; }
const import_ = { import: 1, export: 2 }.export / 2, $state = `a${ { b: `${1}}` }.b }`;
later().then((x) => print(x, $state, typeof $shapes, /[/"`]/.test("`")));
""",
    "shapes.js": """import { next } from "./state.js";
export class Point { constructor(x, y) { this.x = x; this.y = y; } }
export function area({ x, y }) { return x * y * SIZE; }
const SIZE = 1; // not exported
next();
""",
    "state.js": """let now = 0; /* export const no = 1; */
export const count = 10;
export function next() { return (now += 1); }""",
    "sum.js": """export const total = (xs) => { let t = 0, n = 1; for (const x of xs) { t += x; } return t / n; };
// export { x }""",
    "unused.js": "export default 3;",
}


@needs_node
def test_a_joined_script_runs():
    """Modules in the order of their imports, each once, with its own names; names stay out of the page's."""
    assert run_script(join_modules(MODULES, "app.js")) == [[6, 10, 2, 3, 6], [1, "a1}", "undefined", True]]


def test_only_what_is_imported_is_joined():
    """And nothing twice."""
    joined = join_modules(MODULES, "app.js")
    assert "unused" not in joined
    assert joined.count("let now = 0") == 1
    assert not re.search(r"^\s*(import|export)\b", joined, flags=re.MULTILINE)


REFUSED = [
    'import x from "./b.js";', 'import * as x from "./b.js";', 'import "./b.js";', 'import { a } from "b.js";',
    'import { a } from "../b.js";', 'import { a } from "/b.js";', 'import { a } from "https://x.example/b.js";',
    "import { a } from './b.js';", 'import { a } from "./b.js"', 'import { default as a } from "./b.js";',
    'import { a, } from "./b.js"; import { } from "./b.js";', 'import x, { a } from "./b.js";',
    'import { a /* why */ } from "./b.js";', 'import { missing } from "./b.js";', 'import { a } from "./absent.js";',
    'if (true) { import { a } from "./b.js"; }', 'const b = import("./b.js");', "const u = import.meta.url;",
    "export default 1;", "export { a };", 'export { a } from "./b.js";', 'export * from "./b.js";', "export let a = 1;",
    "export var a = 1;", "export const { a } = x;", "export const [a] = x;", "export const a = 1, c = 2;",
    "export const a = 1", "export function* a() {}", "export class { }", "export function () {}",
    "export const a = 1; export const a = 2;", "{ export const a = 1; }", "await x;", "const y = await fetch(x);",
    "const s = 'open", "const t = `open", "/* open", "f(]", "f(", ")", 'const s = "a\nb";', "const t = `${a`;",
    "const t = tag`</script>`;",
]  # fmt: skip


@pytest.mark.parametrize("source", REFUSED)
def test_other_forms_are_refused(source):
    """With the name of the module, and mostly the line."""
    with pytest.raises(InputError, match=r"app\.js|no module absent\.js"):
        join_modules({"app.js": f"const x = 1;\n{source}\n", "b.js": "export const a = 1;"}, "app.js")


def test_an_error_names_the_line():
    """Where the form is."""
    with pytest.raises(InputError, match=r"app\.js, line 3: the forms allowed are: import"):
        join_modules({"app.js": "const a = `\n`;\nexport default a;\n"}, "app.js")


def test_modules_in_a_circle():
    """Are shown as one."""
    sources = {
        "a.js": 'import { b } from "./b.js";\nexport const a = 1;',
        "b.js": 'import { a } from "./a.js";\nexport const b = 1;',
    }
    with pytest.raises(InputError, match=r"import one another: a\.js -> b\.js -> a\.js"):
        join_modules(sources, "a.js")


@pytest.mark.parametrize(
    "source",
    [
        "const x = a.import + b?.export + { import: 1, export: 2 }.import;",
        "const x = 'import y' + \"export default\" + `import ${'export'} z` + /import \\/ export/.source;",
        "// import x\n/* export y */ const important = 1, exporter = 2;",
        "const x = 1 / 2 / 3, y = a[0] / 2, z = (1) / 2; const r = [/[/]'/, /\"/g];",
    ],
)
def test_words_that_are_no_statements_stay(source):
    """In strings, templates, comments, regular expressions, and as properties."""
    assert take_apart("x.js", source).body == source


def test_all_our_modules_can_be_joined():
    """Each has only the forms that the joiner allows."""
    if not OUR_MODULES:
        pytest.skip("there are no modules yet")
    for path in OUR_MODULES:
        take_apart(path.name, path.read_text(encoding="utf-8"))


PIECES = st.lists(
    st.sampled_from(
        ["</script>", "</ScRiPt ", "<!--", "-->", "<script>", "\\", "<", "/", "!", "a", "$", "é", "\u2028", " "]
    ),
    max_size=8,
).map("".join)


@needs_node
@settings(max_examples=4, deadline=None, phases=[Phase.generate])
@given(st.lists(st.tuples(PIECES, PIECES, PIECES), min_size=12, max_size=12))
def test_no_source_ends_the_script_and_all_mean_the_same(texts):
    """Strings, templates, regular expressions and comments that hold what HTML looks for keep their values."""
    lines, expected = [], []
    for number, (text, template, words) in enumerate(texts):
        pattern = re.sub(r"([\\/$])", r"\\\1", template).replace("\u2028", r"\u2028") or "x"
        inner = template.replace("\\", "\\\\").replace("$", "\\$")
        note = words.replace("\u2028", "").replace("*/", "")
        lines.append(
            f"print({json.dumps(text, ensure_ascii=False)}, `{inner}`, /{pattern}/.test(`{inner}`)); /*{note} */ //{note}\n"
            f"const a{number} = 1; let b{number} = 3; print(a{number}<!--b{number}, b{number}-->0);"
        )
        expected += [[text, template, bool(template)], [False, True]]
    joined = join_modules({"app.js": "\n".join(lines)}, "app.js")
    assert not re.search(r"</script|<!--", joined, flags=re.IGNORECASE)
    assert run_script(joined) == expected


@needs_node
def test_a_backslash_before_the_sign():
    """Stays one escape, or a character of its own."""
    source = r"""print("\</script>", '\\<!--', `\</script>`, /^\<\/script>$/.test("</script>"));"""
    joined = join_modules({"app.js": source}, "app.js")
    assert not re.search(r"</script|<!--", joined)
    assert run_script(joined) == [["</script>", "\\<!--", "</script>", True]]


@given(st.text(alphabet="ab1$'\"`/\\*{}()[]\n <!-", max_size=30))
def test_tokens_are_the_source(source):
    """All of it, in order; or an error of one sentence."""
    try:
        found = list(tokens("x.js", source))
    except InputError:
        return
    assert "".join(token.text for token in found) == source
    assert all(source.startswith(token.text, token.start) for token in found)


INDEX = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>A map</title>
<link rel="icon" href="/static/icon.svg">
<link rel="stylesheet" href="/static/style.css">
<link rel="modulepreload" href="/static/points.js">
<script type="module" src="/static/app.js"></script>
</head>
<body><main id="main">text</main></body>
</html>
"""


class Reader(html.parser.HTMLParser):
    """The elements of a page that matter."""

    def __init__(self, text):
        super().__init__()
        self.scripts, self.styles, self.policy, self._in = [], [], None, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]
        self._in = {"script": self.scripts, "style": self.styles}.get(tag)

    def handle_endtag(self, tag):
        self._in = None

    def handle_data(self, text):
        if self._in is not None:
            self._in.append(text)


def sha256(text):
    """As in a policy."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@given(st.binary(max_size=300))
def test_a_page_in_one_file(data):
    """The policy has the hashes of what is in it, the data come back, nothing from elsewhere is left."""
    script, style = "print('</b>');\r\nprint('é');\n", "main { color: red }\r\n"
    text = page(INDEX, script, style, data)
    found = Reader(text)
    packed, own = found.scripts
    assert gzip.decompress(base64.b64decode(packed)) == data
    assert own == script.replace("\r\n", "\n")
    assert f"script-src 'sha256-{sha256(own)}';" in found.policy
    assert f"style-src 'sha256-{sha256(found.styles[0])}';" in found.policy
    assert found.policy.startswith("default-src 'none';")
    assert "unsafe" not in found.policy
    assert "/static/" not in text
    assert text.index("<meta charset") < text.index("<meta http-equiv") < text.index("<title>")
    assert text == page(INDEX, script, style, data)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"script": "print('</script>')"}, "must hold neither </script"),
        ({"script": "a <!-- b"}, "nor <!--"),
        ({"style": "</style><script>"}, "must hold neither </style"),
        ({"style": "@import 'x.css';"}, "a style that refers to another file"),
        ({"style": "p { background: url(/static/x.png) }"}, "a style that refers to another file"),
        ({"html": INDEX.replace("text", '<img src="/static/a.png">')}, "refers to another file"),
        ({"html": INDEX.replace("text", "<p onclick='x()'>")}, "a handler or a style inside a tag"),
        ({"html": INDEX.replace("text", '<p style="color: red">')}, "a handler or a style inside a tag"),
        ({"html": INDEX.replace("</body>", "")}, "must hold </body> once; it does 0 times"),
    ],
)
def test_pages_that_cannot_be_one_file(change, message):
    """Are an error when they are made, not a page that does not work."""
    with pytest.raises(InputError, match=message):
        page(**{"html": INDEX, "script": "", "style": "", "data": b"", **change})
