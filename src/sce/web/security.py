"""The guard of a server that runs on the user's own machine, in front of any ASGI application.

Written by hand: Starlette's TrustedHostMiddleware ignores ports, and no library that we know of binds a cookie to a port,
checks Origin and Sec-Fetch-Site on all requests, and bounds the bodies in size and time, in one place that can be
read at a sitting.

What it is for:

- Other pages in the same browser: they can send requests to 127.0.0.1, and by DNS rebinding under a name of their own, which
  the Host header shows. Other servers on this machine are even of the same *site*, and cookies are shared between ports.
- Other users of the machine, who can reach the port: they lack the token.
- Broken clients: a body is read whole before the application sees the request, or the application does not see it at all.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from sce.web.bodies import TooLarge, TooSlow, read_body, up_to_end
from sce.web.refusals import REFUSALS, refuse
from sce.web.request import Asked

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
MAX_BODY = 8 << 20  # bytes; a selection among 10,000,000 points takes 1.7 MB
BODY_SECONDS = 20.0
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_HEADERS = {
    b"content-security-policy": POLICY.encode(),
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
}
_SAFE_METHODS = ("GET", "HEAD")


def cookie_name(port: int) -> str:
    """The name of the cookie of a server; with the port, for the servers of one machine share their cookies."""
    return f"sce-{port}"


def single_use_key(token: str) -> str:
    """A token that opens the page once: a browser's command line, which holds it, can be read by all users of the machine."""
    return _derived(token, "once")


class Guard:
    """An ASGI application that lets through to another what the user's own page asks for.

    Parameters
    ----------
    app : ASGI application
    token : str
        ``GET /?token=...`` turns it into a cookie.
    port : int
        Of the address that the browser uses.
    hosts : iterable of str
        The names under which the server may be addressed.
    max_body : int
        Bytes of a request's body; larger ones are refused with 413.
    body_seconds : float
        Bodies that take longer are refused with 408.
    """

    def __init__(
        self,
        app: App,
        *,
        token: str,
        port: int,
        hosts: Iterable[str] = LOOPBACK,
        max_body: int = MAX_BODY,
        body_seconds: float = BODY_SECONDS,
    ) -> None:
        self.app, self.port, self.max_body, self.body_seconds = app, port, max_body, body_seconds
        self._token = token.encode()
        self._once: bytes | None = single_use_key(token).encode()
        self._cookie = _derived(token, f"cookie {port}").encode()
        names = [host.lower() for host in hosts]
        self._hosts = {f"{name}:{port}" for name in names} | ({*names} if port == 80 else set())
        self._origins = {f"{scheme}://{host}" for scheme in ("http", "https") for host in self._hosts}

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] == "http":
            await self._http(scope, receive, _with_headers(send))
        elif scope["type"] == "websocket":
            await _refuse_socket(scope, send, self._misdirected(Asked(scope)) or "no sockets")
        else:
            await self.app(scope, receive, send)

    async def _http(self, scope: Message, receive: Receive, send: Send) -> None:
        asked = Asked(scope)
        why = self._misdirected(asked) or self._from_elsewhere(asked)
        if why is None and asked.path == "/" and asked.method == "GET" and asked.tokens():
            if await self._welcome(asked, send):
                return
            why = "no token"
        why = why or ("no sockets" if asked.wants_socket() else None) or (None if self._known(asked) else "no cookie")
        if why is None and asked.body_length() > self.max_body:
            why = "too large"
        if why is not None:
            await refuse(why, scope, receive, send)
            return
        rest = up_to_end(receive)
        try:
            body = await read_body(rest, self.max_body, self.body_seconds)
        except TooLarge:
            await refuse("too large", scope, rest, send)
        except TooSlow:
            await refuse("too slow", scope, rest, send)
        else:
            if body is not None:  # else the client has gone
                await self._hand_on(scope, _replay(body, receive), send)

    async def _hand_on(self, scope: Message, receive: Receive, send: Send) -> None:
        """Call the application; whatever it does not handle becomes an answer, and goes on to the server's log."""
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except Exception:
            if not begun:
                await refuse("broken", scope, _ended, send)
            raise

    def _misdirected(self, asked: Asked) -> str | None:
        """Why a request was not meant for this server, or does not come from its own page."""
        hosts = asked.all(b"host")
        if len(hosts) != 1:
            return "no host"
        if hosts[0].lower() not in self._hosts:
            return "other host"
        origins = asked.all(b"origin")
        return "other origin" if any(origin.lower() not in self._origins for origin in origins) else None

    def _from_elsewhere(self, asked: Asked) -> str | None:
        """Why a request cannot come from this server's own page, or from the user's address bar."""
        site = asked.one(b"sec-fetch-site")
        if asked.method not in _SAFE_METHODS and not asked.all(b"origin") and site != "same-origin":
            return "no origin"
        other = site in ("cross-site", "same-site") and asked.one(b"sec-fetch-mode") != "navigate"
        return "other origin" if other else None

    def _known(self, asked: Asked) -> bool:
        """Whether a request brings the cookie; other servers of the machine may have set more of that name."""
        name = cookie_name(self.port).encode()
        return any(_equal(value, self._cookie) for key, value in asked.cookies() if key == name)

    async def _welcome(self, asked: Asked, send: Send) -> bool:
        """Turn a token into a cookie, and take it out of the address; False if it is not the right one."""
        given = asked.tokens()[0].encode("utf-8", "replace")
        right = _equal(given, self._token)
        if not right and self._once is not None and _equal(given, self._once):
            right, self._once = True, None
        if not right and not self._known(asked):
            return False
        rest = b"&".join(part for part in asked.query.split(b"&") if part and not part.startswith(b"token="))
        address = b"/?" + rest if rest else b"/"
        headers = [(b"location", address)]
        if right:
            cookie = f"{cookie_name(self.port)}={self._cookie.decode()}; HttpOnly; SameSite=Strict; Path=/"
            headers.append((b"set-cookie", cookie.encode()))
        status, page = 303, b""
        if asked.one(b"sec-fetch-site") == "cross-site":
            # A link on another page led here. Browsers do not send a strict cookie along with a redirect of such a
            # navigation, but with one that a page of ours starts; the query is left out, for it would need escaping.
            status, page = 200, b'<!doctype html><meta http-equiv="refresh" content="0; url=/"><title>Opening</title>'
            headers = [*headers[1:], (b"content-type", b"text/html; charset=utf-8")]
        headers.append((b"content-length", str(len(page)).encode()))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": page})
        return True


def _derived(token: str, purpose: str) -> str:
    return hmac.new(token.encode(), f"sce {purpose}".encode(), hashlib.sha256).hexdigest()


def _equal(given: bytes, right: bytes) -> bool:
    return hmac.compare_digest(given, right)


def _with_headers(send: Send) -> Send:
    """Send with the headers of :data:`_HEADERS` on every answer, which the application cannot loosen."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = [(bytes(name).lower(), value) for name, value in message.get("headers", ())]
            kept = [(name, value) for name, value in own if name not in _HEADERS]
            if not any(name == b"cache-control" for name, _ in kept):
                kept.append((b"cache-control", b"no-store"))
            message = {**message, "headers": [*kept, *_HEADERS.items()]}
        await send(message)

    return sending


async def _ended() -> Message:
    """Receive after a body that has been read."""
    return {"type": "http.disconnect"}


def _replay(body: bytes, receive: Receive) -> Receive:
    """Receive a body that has been read already, then what really comes: the end of the connection."""
    given = False

    async def receiving() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receiving


async def _refuse_socket(scope: Message, send: Send, why: str) -> None:
    """Refuse a WebSocket before it is open: with the status if the server can send one, else with 403, as ASGI has it."""
    if "websocket.http.response" in (scope.get("extensions") or {}):
        start = {
            "type": "websocket.http.response.start",
            "status": REFUSALS[why].status,
            "headers": [*_HEADERS.items()],
        }
        await send(start)
        await send({"type": "websocket.http.response.body", "body": REFUSALS[why].sentence.encode()})
    else:
        await send({"type": "websocket.close", "code": 1008})
