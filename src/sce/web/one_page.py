"""A page in one file that needs no network: its script, its style and its data inside, under a policy of hashes.

The page is the one that a server would send. What it refers to at the server, its style sheet, icon and module, is taken out,
and the same is put in. Data travel as gzip in base64, in which there is no ``<``; browsers unpack them with
DecompressionStream.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import re

from sce.errors import InputError
from sce.web.javascript import check_inline

_REFERENCE = re.compile(
    r'[ \t]*<(?:link\b[^>]*\brel="(?:stylesheet|modulepreload|preload|icon)"[^>]*>'
    r'|script\b[^>]*\bsrc="[^"]*"[^>]*>\s*</script>)[ \t]*\n?'
)
_OUTSIDE = re.compile(r"""(?:<link\b[^>]*\shref|\ssrc)\s*=\s*["']?(?!data:)[^\s"'>]+""", re.IGNORECASE)
_INLINE = re.compile(r"<[^>]*\s(?:on\w+|style)\s*=", re.IGNORECASE)
_STYLE_OUTSIDE = re.compile(r"""@import|url\(\s*["']?(?!data:|#)""", re.IGNORECASE)


def page(html: str, script: str, style: str, data: bytes) -> str:
    """A page with all that it needs.

    Parameters
    ----------
    html : str
        A page with ``<head>``, ``</head>`` and ``</body>``.
    script : str
        From :func:`sce.web.join.join_modules`; it runs when the page has been read.
    style : str
    data : bytes
        The script finds them in the element of the id ``data``, as base64 of gzip.

    Raises
    ------
    InputError
        If the page or the style refers to other files, or holds code or styles that the policy forbids.
    """
    html, script, style = (_as_read(text) for text in (html, script, style))
    check_inline(script, "script")
    check_inline(style, "style")
    html = _REFERENCE.sub("", html)
    _check_alone(html, style)
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src blob: data:; font-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    packed = base64.b64encode(gzip.compress(data, 9, mtime=0)).decode("ascii")
    head = f'<head>\n<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="{policy}">'
    html = re.sub(r'[ \t]*<meta charset="[^"]*">[ \t]*\n?', "", html, count=1, flags=re.IGNORECASE)
    html = _put(html, "<head>", head)
    html = _put(html, "</head>", f"<style>{style}</style>\n</head>")
    elements = (
        f'<script type="application/octet-stream" id="data">{packed}</script>\n<script>{script}</script>\n</body>'
    )
    return _put(html, "</body>", elements)


def _as_read(text: str) -> str:
    """Lines end as a browser reads them, or the hashes would not match."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"


def _put(html: str, place: str, text: str) -> str:
    if html.count(place) != 1:
        raise InputError(f"The page must hold {place} once; it does {html.count(place)} times.")
    return html.replace(place, text)


def _check_alone(html: str, style: str) -> None:
    """Refuse what needs another file, and what the policy of hashes would stop."""
    for pattern, text, what in (
        (_OUTSIDE, html, "refers to another file"),
        (_INLINE, html, "holds a handler or a style inside a tag"),
        (_STYLE_OUTSIDE, style, "has a style that refers to another file"),
    ):
        found = pattern.search(text)
        if found:
            raise InputError(f"The page {what}, which a page in one file cannot: {found.group()[:80]}")
