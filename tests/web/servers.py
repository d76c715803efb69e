"""Real servers on loopback for the tests, and clients that write their bytes themselves."""

import contextlib
import json
import socket
import threading
import time
from typing import NamedTuple

from sce.web.security import Guard, cookie_name
from sce.web.serving import listen, make_server

TOKEN = "a-token-of-the-tests"


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: dict
    body: bytes


class Site:
    """A guarded application that remembers what it was asked for, served on a free port."""

    def __init__(self, app=None, **options):
        self.asked, self.bodies = [], []
        self.socket = listen("127.0.0.1", 0)
        self.port = self.socket.getsockname()[1]
        self.guard = Guard(app or self.app, token=TOKEN, port=self.port, **options)
        self.server = make_server(self.guard)
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.socket]}, daemon=True)

    async def app(self, scope, receive, send):
        """Say "here", after reading the body; fail at /fails."""
        message = await receive()
        self.asked.append((scope["method"], scope["path"]))
        self.bodies.append(message["body"])
        if scope["path"] == "/fails":
            raise ZeroDivisionError("a fault of the test")
        headers = [(b"content-length", b"4"), (b"x-frame-options", b"ALLOWALL")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"here"})

    def __enter__(self):
        self.thread.start()
        while not self.server.started:
            time.sleep(0.005)
        self.cookie = f"{cookie_name(self.port)}={self.guard._cookie.decode()}"
        return self

    def __exit__(self, *error):
        self.server.should_exit = self.server.force_exit = True
        self.thread.join(10)
        assert not self.thread.is_alive()

    @property
    def host(self):
        """The address of the server."""
        return f"127.0.0.1:{self.port}"

    def connect(self):
        """A connection."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=10)

    def ask(self, target="/", method="GET", *, body=b"", known=True, **headers):
        """The answer to one request. Headers by name, with _ for -; None leaves one out."""
        wanted = {"host": self.host, "connection": "close", "cookie": self.cookie if known else None}
        wanted |= {"content-length": str(len(body)) if body else None}
        wanted |= {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [f"{method} {target} HTTP/1.1", *(f"{n}: {v}" for n, v in wanted.items() if v is not None), "", ""]
        return self.send("\r\n".join(lines).encode("latin-1") + body)

    def send(self, raw):
        """The answer to some bytes."""
        with self.connect() as connection:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                connection.sendall(raw)
            return read(connection)

    def alive(self):
        """Whether an honest request is answered."""
        return self.ask("/alive").body == b"here"


def read(connection):
    """The answer on a connection that ends with it; status 0 if there is none."""
    raw = b""
    with contextlib.suppress(ConnectionResetError, TimeoutError):
        while chunk := connection.recv(65536):
            raw += chunk
    if not raw:
        return Answer(0, {}, b"")
    head, _, body = raw.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {}
    for line in lines:
        name, _, value = line.partition(": ")
        headers[name.lower()] = f"{headers[name.lower()]}, {value}" if name.lower() in headers else value
    return Answer(int(first.split()[1]), headers, body)


def error(answer):
    """The sentence of a refusal."""
    return json.loads(answer.body)["error"]
