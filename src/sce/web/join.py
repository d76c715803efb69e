r"""ES modules joined to one script, and a page in one file: modules inside a page cannot import one another.

Written by hand: bundlers need node, and a strict subset of modules needs no bundler. Only these forms are allowed, outside of
all brackets::

    import { a, b as c } from "./x.js";
    export const name = ...;    export function name    export async function name    export class name

Each module becomes a function that is called once, in the order of the imports, and returns what it exports. The script holds
neither ``</script`` nor ``<!--``, whatever its strings, comments and regular expressions say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from sce.errors import InputError
from sce.web.javascript import Token, check_inline, line_of, tokens
from sce.web.one_page import page

__all__ = ["Import", "Module", "join_modules", "page", "take_apart"]

_IDENTIFIER = r"[A-Za-z_$][\w$]*"
_IMPORT_FORM = re.compile(r'import\s*\{([^{}]*)\}\s*from\s*"\./([\w.-]+\.js)"\s*;')
_EXPORT_FORM = re.compile(rf"export\s+(const|function|async\s+function|class)\s+({_IDENTIFIER})(?![\w$])")
_IMPORTED = re.compile(rf"\s*({_IDENTIFIER})(?:\s+as\s+({_IDENTIFIER}))?\s*")
_ENDS_SCRIPT = re.compile(r"(\\*)<(?=!--|/?script)", re.IGNORECASE)
_ALLOWED_FORMS = (
    'the forms allowed are: import { a, b as c } from "./x.js"; and export const, function, async function or class, '
    "with a name"
)


class Import(NamedTuple):
    """An import: from which module, and the pairs of names there and here."""

    module: str
    names: list[tuple[str, str]]


class Module(NamedTuple):
    """A module taken apart: its code without imports, and without the word export."""

    name: str
    imports: list[Import]
    exports: list[str]
    body: str


def join_modules(sources: Mapping[str, str], entry: str) -> str:
    r"""One classic script of a module and all that it imports.

    Parameters
    ----------
    sources : dict of name to source
        Names are those in the imports, without ``./``.
    entry : str
        The module to begin with.

    Raises
    ------
    InputError
        At any other form of import or export, a name that is not exported, modules that import one another.

    Examples
    --------
    >>> sources = {"app.js": 'import { two } from "./two.js";\nprint(two);', "two.js": "export const two = 2;"}
    >>> print(join_modules(sources, "app.js"))
    (() => {
    "use strict";
    const $two = (() => {
    const two = 2;
    return { two };
    })();
    const $app = (() => {
    const { two } = $two;
    <BLANKLINE>
    print(two);
    return {};
    })();
    })();
    <BLANKLINE>
    """
    modules = _in_order(sources, entry)
    variables = _variables(modules)
    script = "".join(_as_function(module, variables) for module in modules)
    joined = f'(() => {{\n"use strict";\n{script}}})();\n'
    check_inline(joined, "script")
    return joined


def take_apart(name: str, source: str) -> Module:
    """A module as the joiner sees it.

    Raises
    ------
    InputError
        At a form that is not allowed.
    """
    found = list(tokens(name, source))
    imports, exports, pieces = [], [], []
    skip_to = 0
    for index, token in enumerate(found):
        if token.start < skip_to:
            continue
        if token.kind == "word" and token.text in ("import", "export", "await") and not _is_property(found, index):
            if token.text == "import":
                one, skip_to = _import(name, source, token)
                imports.append(one)
                continue
            if token.text == "export":
                exported, skip_to = _export(name, source, found, index)
                exports.append(exported)
                continue
            if token.depth == 0:
                raise _error(name, source, token, "await outside of a function")
        pieces.append(token)
    doubled = sorted({one for one in exports if exports.count(one) > 1})
    if doubled:
        raise InputError(f"{name} exports {doubled[0]} twice.")
    return Module(name, imports, exports, _code(name, source, pieces))


def _import(name: str, source: str, token: Token) -> tuple[Import, int]:
    form = _IMPORT_FORM.match(source, token.start)
    if form is None or token.depth:
        raise _error(name, source, token, _ALLOWED_FORMS)
    *parts, last = form.group(1).split(",")
    pairs = [_IMPORTED.fullmatch(part) for part in ([*parts, last] if last.strip() else parts)]
    if not pairs or None in pairs:
        raise _error(name, source, token, _ALLOWED_FORMS)
    return Import(form.group(2), [(pair[1], pair[2] or pair[1]) for pair in pairs if pair is not None]), form.end()


def _export(name: str, source: str, found: Sequence[Token], index: int) -> tuple[str, int]:
    """The name that is exported, and where the declaration begins."""
    token = found[index]
    form = _EXPORT_FORM.match(source, token.start)
    if form is None or token.depth:
        raise _error(name, source, token, _ALLOWED_FORMS)
    if form.group(1) == "const":
        rest = [other for other in found[index:] if other.depth == 0 and other.kind == "mark"]
        end = next((other.text for other in rest if other.text in ";,"), "")
        if end != ";":
            raise _error(name, source, token, "export one constant at a time, and end it with a semicolon")
    return form.group(2), form.start(1)


def _is_property(found: Sequence[Token], index: int) -> bool:
    """Whether a word is the name of a property, which any word may be."""
    before = next((token.text for token in reversed(found[:index]) if token.kind not in ("space", "comment")), "")
    after = next((token.text for token in found[index + 1 :] if token.kind not in ("space", "comment")), "")
    return before == "." or (after == ":" and before in ("{", ","))


def _code(name: str, source: str, pieces: Sequence[Token]) -> str:
    """The text of tokens, harmless inside a page."""
    text, code = [], ""
    before = ""
    for token in pieces:
        if token.kind in ("word", "mark", "space"):
            code += token.text
        else:
            text += [_harmless_code(code), _harmless(token.text)]
            code = ""
            tagged = token.kind == "template" and token.text[0] == "`" and re.fullmatch(r"[\w$]+|[)\]]", before)
            if tagged and text[-1] != token.text:
                raise _error(name, source, token, "a tagged template must hold neither </script nor <!--")
        if token.kind not in ("space", "comment"):
            before = token.text
    return "".join([*text, _harmless_code(code)])


def _harmless(literal: str) -> str:
    r"""A literal or comment with ``\x3c`` for a ``<`` that HTML would take for its own; ``\<`` is the same as ``<``."""
    return _ENDS_SCRIPT.sub(lambda match: match[1][: len(match[1]) // 2 * 2] + r"\x3c", literal)


def _harmless_code(code: str) -> str:
    """Code with spaces where HTML, or a classic script with its ``<!--`` comments, would see something else."""
    return re.sub(r"<(?=!--|/?script|$)", "< ", code, flags=re.IGNORECASE)


def _in_order(sources: Mapping[str, str], entry: str) -> list[Module]:
    """The module and all that it imports, each after those that it imports itself."""
    done: dict[str, Module] = {}

    def visit(name: str, way: list[str]) -> Module:
        if name in way:
            raise InputError(f"Modules import one another: {' -> '.join([*way[way.index(name) :], name])}.")
        if name not in done:
            if name not in sources:
                raise InputError(f"There is no module {name}{f', which {way[-1]} imports' if way else ''}.")
            module = take_apart(name, sources[name])
            for one in module.imports:
                other = visit(one.module, [*way, name])
                missing = [there for there, _ in one.names if there not in other.exports]
                if missing:
                    raise InputError(f"{name} imports {missing[0]} from {one.module}, which does not export it.")
            done[name] = module
        return done[name]

    visit(entry, [])
    return list(done.values())


def _variables(modules: Iterable[Module]) -> dict[str, str]:
    """A variable for each module, of a name that no module uses."""
    modules = list(modules)
    taken = {word for module in modules for word in re.findall(r"[\w$]+", module.body)}
    variables: dict[str, str] = {}
    for module in modules:
        variable = "$" + re.sub(r"\W", "_", module.name.removesuffix(".js"))
        while variable in taken:
            variable += "_"
        taken.add(variable)
        variables[module.name] = variable
    return variables


def _as_function(module: Module, variables: Mapping[str, str]) -> str:
    lines = [f"const {variables[module.name]} = (() => {{"]
    for one in module.imports:
        names = ", ".join(there if there == here else f"{there}: {here}" for there, here in one.names)
        lines.append(f"const {{ {names} }} = {variables[one.module]};")
    returned = f"{{ {', '.join(module.exports)} }}" if module.exports else "{}"
    return "\n".join([*lines, module.body.rstrip("\n"), f"return {returned};", "})();\n"])


def _error(name: str, source: str, token: Token, what: str) -> InputError:
    return InputError(f"{name}, line {line_of(source, token.start)}: {what}.")
