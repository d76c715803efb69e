"""Static files from memory: a table made at the start, so that no path is ever made of a request.

Written by hand: Starlette's StaticFiles joins the path of a request to a folder and has had holes for that reason
(CVE-2023-29159), and it does not stamp addresses with the contents.

All folders share one name space, ``/static/NAME``: modules import one another as ``"./name.js"``, in whichever folder they are.
Such imports, and the addresses in a page, get the stamp of all files, ``?v=...``; what is asked for with it may be kept by the
browser for ever, what is asked for without it is kept but confirmed every time.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from sce.errors import InputError
from sce.web.refusals import refuse

STATIC_PREFIX = "/static/"
_MEDIA_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
}
_IMPORT_ADDRESS = re.compile(r'^((?:import|\}).*?\bfrom\s*"\./[\w.-]+\.js)(")', re.MULTILINE)
_IMPORTED_FILE = re.compile(r'^(?:import|\}).*?\bfrom\s*"\./([\w.-]+\.js)"', re.MULTILINE)
_PAGE_SCRIPT = re.compile(r'<script type="module" src="/static/([\w.-]+)"></script>')
_ADDRESS = re.compile(r'((?:src|href)="/static/[\w.-]+)(")')


class StaticFile(NamedTuple):
    """A file that is served."""

    content: bytes
    media_type: str
    etag: str


def read_static(folders: Iterable[Path]) -> dict[str, bytes]:
    """The files of some folders by name; those of the table of media types, without folders inside.

    Raises
    ------
    InputError
        If two folders have a file of the same name.
    """
    found: dict[str, bytes] = {}
    for folder in folders:
        for path in sorted(folder.iterdir()):
            if path.suffix in _MEDIA_TYPES and path.is_file():
                if path.name in found:
                    raise InputError(f"Two static files are called {path.name}; rename {path}.")
                found[path.name] = path.read_bytes()
    return found


class StaticFiles:
    """An ASGI application that serves files under ``/static/``, and a page at ``/``.

    Parameters
    ----------
    files : dict of name to contents
        From :func:`read_static`.
    index : str
        The name of the file that is the page at ``/``.
    """

    def __init__(self, files: Mapping[str, bytes], index: str = "index.html") -> None:
        self.stamp = _stamp(files)
        self.table: dict[str, StaticFile] = {}
        for name, content in files.items():
            ending = Path(name).suffix
            told = _with_preloads(content, files) if name == index else content
            ready = _stamped(told, ending, self.stamp)
            etag = f'"{hashlib.sha256(ready).hexdigest()[:32]}"'
            address = "/" if name == index else STATIC_PREFIX + name
            self.table[address] = StaticFile(ready, _MEDIA_TYPES[ending], etag)

    async def __call__(
        self, scope: Any, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]
    ) -> None:
        """Serve a file, or refuse."""
        file = self.table.get(scope["path"])
        if file is None:
            await refuse("not found", scope, receive, send)
            return
        if scope["method"] not in ("GET", "HEAD"):
            await refuse("method", scope, receive, send)
            return
        lasting = scope.get("query_string") == f"v={self.stamp}".encode() and scope["path"] != "/"
        headers = [
            (b"etag", file.etag.encode()),
            (b"cache-control", b"private, max-age=31536000, immutable" if lasting else b"no-cache"),
        ]
        asked = b", ".join(value for name, value in scope["headers"] if name.lower() == b"if-none-match")
        if file.etag.encode() in [tag.strip().removeprefix(b"W/") for tag in asked.split(b",")]:
            await _send(send, 304, headers, b"")
            return
        headers += [(b"content-type", file.media_type.encode()), (b"content-length", b"%d" % len(file.content))]
        await _send(send, 200, headers, b"" if scope["method"] == "HEAD" else file.content)


def _stamp(files: Mapping[str, bytes]) -> str:
    """A name for these files with these contents."""
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\0{len(files[name])}\0".encode() + files[name])
    return digest.hexdigest()[:16]


def _with_preloads(page: bytes, files: Mapping[str, bytes]) -> bytes:
    """A page that names all modules of its script, so that a browser asks for them at once and not as it comes upon them."""
    text = page.decode()
    script = _PAGE_SCRIPT.search(text)
    if script is None:
        return page
    reached, left = [], [script.group(1)]
    while left:
        name = left.pop()
        if name in files and name not in reached:
            reached.append(name)
            left += _IMPORTED_FILE.findall(files[name].decode())
    links = "".join(f'<link rel="modulepreload" href="{STATIC_PREFIX}{name}">\n' for name in reached[1:])
    return (text[: script.start()] + links + text[script.start() :]).encode()


def _stamped(content: bytes, ending: str, stamp: str) -> bytes:
    """A page or a module whose addresses of other files have the stamp."""
    pattern = {".html": _ADDRESS, ".js": _IMPORT_ADDRESS}.get(ending)
    return content if pattern is None else pattern.sub(rf"\1?v={stamp}\2", content.decode()).encode()


async def _send(send: Callable[[Any], Awaitable[None]], status: int, headers: list[Any], body: bytes) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
