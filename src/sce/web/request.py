"""What the guard reads of a request, without the application's framework."""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping
from typing import Any
from urllib.parse import parse_qs

_MOST_DIGITS = 18  # of a length; what is longer is too large in any case


class Asked:
    """A request as the guard sees it; headers are text, of one byte a character."""

    def __init__(self, scope: MutableMapping[str, Any]) -> None:
        self.path: str = scope["path"]
        self.method: str = scope.get("method", "GET")
        self.query: bytes = scope.get("query_string", b"")
        self._headers: list[tuple[bytes, bytes]] = [(bytes(name).lower(), bytes(v)) for name, v in scope["headers"]]

    def all(self, name: bytes) -> list[str]:
        """The values of a header, which may be there more than once."""
        return [value.decode("latin-1").strip() for key, value in self._headers if key == name]

    def one(self, name: bytes) -> str:
        """The values of a header as one; empty if there are none."""
        return ", ".join(self.all(name))

    def tokens(self) -> list[str]:
        """The tokens in the address."""
        return parse_qs(self.query.decode("latin-1"), keep_blank_values=True).get("token", [])

    def wants_socket(self) -> bool:
        """Whether this is the handshake of a WebSocket."""
        return "websocket" in self.one(b"upgrade").lower()

    def cookies(self) -> Iterable[tuple[bytes, bytes]]:
        """All cookies; http.cookies would give up at one that another server of this machine has set badly."""
        for part in self.one(b"cookie").replace(",", ";").encode("latin-1").split(b";"):
            name, _, value = part.strip().partition(b"=")
            yield name, value

    def body_length(self) -> int:
        """What the headers say; a chunked body does not."""
        length = self.one(b"content-length")
        return int(length[:_MOST_DIGITS]) if length.isascii() and length.isdigit() else 0
