"""What a server says to requests that it does not serve: a status and a sentence, as a page or as JSON."""

from __future__ import annotations

import html
import json
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from sce.web.bodies import drain

_LINGER_BYTES, _LINGER_SECONDS = 64 << 20, 2.0  # of a body that is refused, read so that the client sees the answer


class Refusal(NamedTuple):
    """A status, and what to say."""

    status: int
    sentence: str


REFUSALS = {
    "no host": Refusal(400, "The request must name one host; open the page with the address that the command printed."),
    "other host": Refusal(
        421, "This server answers under its own address only; open the page with the address that the command printed."
    ),
    "other origin": Refusal(403, "The request comes from another page, which may not use this server."),
    "no origin": Refusal(403, "A request that changes something must say which page it comes from (Origin)."),
    "no sockets": Refusal(400, "This server has no WebSockets; use plain requests."),
    "no token": Refusal(
        401, "The token in the address is not that of this server; copy the whole address that the command printed."
    ),
    "no cookie": Refusal(
        401,
        "This browser has not opened the page yet; open it with the address, token included, that the command printed.",
    ),
    "too large": Refusal(413, "The request is too large for this server; send less at a time."),
    "too slow": Refusal(408, "The request did not arrive in time; send it again."),
    "broken": Refusal(500, "Internal error; the terminal in which the server runs says more."),
    "not found": Refusal(404, "There is nothing at this address."),
    "method": Refusal(405, "This address can only be read."),
}


async def refuse(
    why: str, scope: Any, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]
) -> None:
    """Answer with a refusal, and close the connection.

    Browsers get a page, everything else ``{"error": "one sentence"}``.
    """
    status, sentence = REFUSALS[why]
    asked = {bytes(name).lower(): bytes(value) for name, value in scope["headers"]}
    if b"text/html" in asked.get(b"accept", b""):
        kind, text = "text/html", _page(sentence)
    else:
        kind, text = "application/json", json.dumps({"error": sentence})
    body = text.encode()
    headers = [
        (b"content-type", f"{kind}; charset=utf-8".encode()),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    if status == 405:
        headers.append((b"allow", b"GET, HEAD"))
    body = b"" if scope["method"] == "HEAD" else body
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": True})
    has_body = b"transfer-encoding" in asked or asked.get(b"content-length", b"0") != b"0"
    if has_body and b"expect" not in asked:
        await drain(receive, _LINGER_BYTES, _LINGER_SECONDS)
    await send({"type": "http.response.body", "body": b""})


def _page(sentence: str) -> str:
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Not available</title>'
        f"<main><p>{html.escape(sentence)}</p></main></html>"
    )
