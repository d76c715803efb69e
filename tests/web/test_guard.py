"""Bad requests to a real server: the right status, nothing reaches the application, and it goes on."""

import socket
import threading
import time

import pytest
from servers import TOKEN, Site, error, read

from sce.web import impatient
from sce.web.security import POLICY, cookie_name, single_use_key
from sce.web.serving import allowed_hosts


@pytest.fixture(scope="module")
def site():
    """One server for all, with small bounds."""
    with Site(max_body=1000, body_seconds=0.5) as running:
        yield running


@pytest.fixture
def untouched(site):
    """At the end nothing has come to the application, and the server still answers."""
    before = len(site.asked)
    yield site
    assert len(site.asked) == before
    assert site.alive()


def test_the_token_becomes_a_cookie_and_leaves_the_address(site):
    """The cookie is of this port and out of reach of scripts; it is not the token; the rest of the query stays."""
    answer = site.ask(f"/?frame=3&token={TOKEN}&by=label", known=False)
    assert (answer.status, answer.headers["location"]) == (303, "/?frame=3&by=label")
    cookie, *attributes = answer.headers["set-cookie"].split("; ")
    assert cookie == site.cookie
    assert cookie.startswith(f"sce-{site.port}=")
    assert TOKEN not in cookie
    assert attributes == ["HttpOnly", "SameSite=Strict", "Path=/"]
    assert site.ask("/", known=False, cookie=cookie).body == b"here"


def test_a_link_on_another_page_opens_the_page(site):
    """By a page that goes on by itself, for a redirect would be without the strict cookie."""
    answer = site.ask(f"/?token={TOKEN}", known=False, sec_fetch_site="cross-site", sec_fetch_mode="navigate")
    assert (answer.status, answer.headers["set-cookie"].split(";")[0]) == (200, site.cookie)
    assert b'http-equiv="refresh" content="0; url=/"' in answer.body
    assert TOKEN.encode() not in answer.body


def test_a_key_for_the_command_line_works_once(site):
    """Other users of the machine can read it there, but too late."""
    key = single_use_key(TOKEN)
    assert site.ask(f"/?token={key}", known=False).status == 303
    assert site.ask(f"/?token={key}", known=False).status == 401
    assert site.ask(f"/?token={TOKEN}", known=False).status == 303


def test_an_old_token_does_no_harm_to_who_is_in(site):
    """It leaves the address all the same, and no cookie is set."""
    answer = site.ask("/?token=old")
    assert (answer.status, answer.headers["location"]) == (303, "/")
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("token", ["", "wrong", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "%00", "%ff%fe", "a" * 9000])
def test_a_wrong_token(untouched, token):
    """A sentence that says what to do, and no cookie."""
    answer = untouched.ask(f"/?token={token}", known=False)
    assert answer.status == 401
    assert "copy the whole address" in error(answer)
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "target", [f"/api/about?token={TOKEN}", f"/static/x?token={TOKEN}", f"//?token={TOKEN}", f"/?Token={TOKEN}"]
)
def test_the_token_counts_at_the_root_only(untouched, target):
    """Elsewhere the cookie is asked for."""
    assert untouched.ask(target, known=False).status == 401


def test_the_token_counts_for_reading_only(untouched):
    """Not when something is posted."""
    assert untouched.ask(f"/?token={TOKEN}", "POST", known=False, origin=f"http://{untouched.host}").status == 401


@pytest.mark.parametrize(
    "cookie", [None, "", "other=1", "sce-{port}=", "sce-{port}=wrong", "sce-1={value}", "sce-{port}x={value}"]
)
def test_no_cookie(untouched, cookie):
    """Or one of another port, or a wrong one; a person gets a page, a script gets JSON."""
    value = untouched.cookie.partition("=")[2]
    cookie = cookie and cookie.format(port=untouched.port, value=value)
    answer = untouched.ask("/api/about", known=False, cookie=cookie)
    assert answer.status == 401
    assert "open it with the address, token included" in error(answer)
    answer = untouched.ask("/", known=False, cookie=cookie, accept="text/html,*/*")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert b"<!doctype html>" in answer.body


def test_cookies_of_other_servers_are_in_the_way_of_nothing(site):
    """However badly they are written, and if they took our name."""
    name = cookie_name(site.port)
    cookie = f'jupyter="a;b; {name}=theirs; ]}}\\x01=="; {site.cookie}; =;;'
    assert site.ask(known=False, cookie=cookie).status == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "localhost.evil.example:{port}",
        "127.0.0.1:{port}.evil",
        "",
        "127.0.0.2:{port}",
        "[::2]:{port}",
    ],
)
def test_another_host(untouched, host):
    """As after DNS rebinding: the browser sends the name under which it knows the page; even with the right token."""
    for target in ("/", f"/?token={TOKEN}"):
        assert untouched.ask(target, host=host.format(port=untouched.port)).status in (400, 421)


def test_two_hosts_or_none(untouched):
    """Are refused."""
    assert untouched.ask(host=None).status == 400
    assert untouched.send(b"GET / HTTP/1.0\r\n\r\n").status == 400
    both = f"GET / HTTP/1.1\r\nHost: {untouched.host}\r\nHost: evil.example\r\n\r\n"
    assert untouched.send(both.encode()).status == 400


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LocalHost", "[::1]"])
def test_own_hosts(site, name):
    """All names of this machine to itself."""
    assert site.ask(host=f"{name}:{site.port}").status == 200


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "OPTIONS"])
@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "http://127.0.0.1",
        "http://localhost:1",
        "file://",
        "http://127.0.0.1:{port}.evil.example",
        "ftp://127.0.0.1:{port}",
        "",
    ],
)
def test_another_origin(untouched, method, origin):
    """Even with the cookie: another server on this machine is of the same site."""
    answer = untouched.ask("/api/naming", method, origin=origin.format(port=untouched.port), body=b"{}")
    assert answer.status == 403


def test_two_origins(untouched):
    """Both have to be ours."""
    raw = f"POST / HTTP/1.1\r\nHost: {untouched.host}\r\nOrigin: http://{untouched.host}\r\nOrigin: http://evil.example\r\n\r\n"
    assert untouched.send(raw.encode()).status == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "ODD"])
def test_changing_without_an_origin(untouched, method):
    """Is refused, unless the browser says that it is our page."""
    assert untouched.ask("/api/naming", method).status == 403
    assert untouched.ask("/api/naming", method, sec_fetch_site="same-site").status == 403
    assert untouched.ask("/api/naming", method, sec_fetch_site="none").status == 403


@pytest.mark.parametrize("site_", ["same-site", "cross-site"])
def test_parts_of_other_pages(untouched, site_):
    """An image or a script in another page cannot be ours."""
    assert untouched.ask("/api/points", sec_fetch_site=site_, sec_fetch_mode="no-cors").status == 403


def test_our_own_page_may(site):
    """Read and write, by Origin or by Sec-Fetch-Site."""
    before = len(site.asked)
    assert site.ask("/api", "POST", body=b"{}", origin=f"http://{site.host}").status == 200
    assert site.ask("/api", "POST", body=b"{}", origin=f"http://localhost:{site.port}").status == 200
    assert site.ask("/api", "POST", body=b"{}", sec_fetch_site="same-origin").status == 200
    assert site.bodies[before:] == [b"{}"] * 3


@pytest.mark.parametrize(
    ("changes", "status"),
    [({}, 400), ({"host": "evil.example"}, 421), ({"origin": "http://evil.example"}, 403), ({"known": False}, 400)],
)
def test_a_websocket_is_refused(untouched, changes, status):
    """After its host and origin."""
    headers = {
        "connection": "Upgrade",
        "upgrade": "websocket",
        "sec_websocket_version": "13",
        "sec_websocket_key": "dGVzdA==",
    }
    answer = untouched.ask("/api/about", **{**headers, "origin": f"http://{untouched.host}", **changes})
    assert answer.status == status


def test_the_headers_are_on_every_answer(site):
    """On those of the application, which cannot loosen them, and on refusals."""
    answers = [
        site.ask(),
        site.ask(known=False),
        site.ask(host="evil"),
        site.ask("/api", "POST"),
        site.ask(f"/?token={TOKEN}"),
        site.ask("/fails"),
        site.ask("/", "POST", body=b"x" * 2000, origin=f"http://{site.host}"),
    ]
    assert [answer.status for answer in answers] == [200, 401, 421, 403, 303, 500, 413]
    for answer in answers:
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert answer.headers["cache-control"] == "no-store"
        assert "server" not in answer.headers
    assert "unsafe" not in POLICY
    assert "Internal error" in error(answers[5])
    start = time.perf_counter()
    assert site.ask("/fails", "POST", body=b"x", origin=f"http://{site.host}").status == 500
    assert time.perf_counter() - start < 1.0
    assert site.alive()


def posting(site, *headers):
    """The head of an honest POST."""
    own = [f"host: {site.host}", f"cookie: {site.cookie}", f"origin: http://{site.host}", "connection: close"]
    return "\r\n".join(["POST /api HTTP/1.1", *own, *headers, "", ""]).encode()


@pytest.mark.parametrize("length", [1001, 10**9, 10**15, 10**19])
def test_a_body_that_says_it_is_too_large(untouched, length):
    """Is refused before it comes."""
    start = time.perf_counter()
    with untouched.connect() as connection:
        connection.sendall(posting(untouched, f"content-length: {length}"))
        first = connection.recv(100)
        assert first.startswith(b"HTTP/1.1 413") or (length > 10**18 and first.startswith(b"HTTP/1.1 4"))
    assert time.perf_counter() - start < 1.0


def test_a_body_too_large_that_is_sent_all_the_same(untouched):
    """The answer is not lost, although nobody keeps what is sent."""
    body = bytes(3_000_000)
    answer = untouched.send(posting(untouched, f"content-length: {len(body)}") + body)
    assert answer.status == 413
    assert "too large" in error(answer)


def test_a_chunked_body_over_the_bound(untouched):
    """It is counted as it comes, to no end."""
    chunk = b"100\r\n" + bytes(256) + b"\r\n"
    assert untouched.send(posting(untouched, "transfer-encoding: chunked") + 8 * chunk + b"0\r\n\r\n").status == 413
    with untouched.connect() as connection:
        connection.sendall(posting(untouched, "transfer-encoding: chunked"))
        for _ in range(5):
            connection.sendall(chunk)
        assert connection.recv(100).startswith(b"HTTP/1.1 413")


def test_a_chunked_body_within_the_bound(site):
    """Comes whole."""
    raw = posting(site, "transfer-encoding: chunked") + b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
    assert site.send(raw).status == 200
    assert site.bodies[-1] == b"abcde"


def test_a_slow_body(untouched):
    """Is cut off, however regularly a byte comes."""
    start = time.perf_counter()
    with untouched.connect() as connection:
        connection.sendall(posting(untouched, "content-length: 500"))
        for _ in range(8):
            connection.sendall(b"x")
            time.sleep(0.1)
        assert connection.recv(100).startswith(b"HTTP/1.1 408")
    assert time.perf_counter() - start < 3.0


def test_a_client_that_waits_for_leave_to_send(site):
    """Gets none for a body that is too large, and may send one that is not."""
    with site.connect() as connection:
        connection.sendall(posting(site, "content-length: 5000", "expect: 100-continue"))
        assert connection.recv(100).startswith(b"HTTP/1.1 413")
    with site.connect() as connection:
        connection.sendall(posting(site, "content-length: 3", "expect: 100-continue"))
        assert connection.recv(100).startswith(b"HTTP/1.1 100")
        connection.sendall(b"abc")
        assert read(connection).status == 200


def test_sockets_that_close_early(untouched):
    """Half a body, half a head, nothing at all, half-closed, reset: the application sees none of it."""
    half = posting(untouched, "content-length: 500") + b"half"
    for raw in (b"", b"GE", half[:40], half):
        for how in (socket.SHUT_WR, socket.SHUT_RDWR, None):
            with untouched.connect() as connection:
                if how is None:  # reset
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                connection.sendall(raw)
                if how is not None:
                    connection.shutdown(how)
                    read(connection)


@pytest.mark.parametrize(
    "raw",
    [
        b"\r\n\r\nnonsense\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET  / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost : x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nA: \x00\r\n\r\n",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 20_000 + b"\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: odd\r\n\r\n",
    ],
)
def test_what_is_no_http(untouched, raw):
    """400 or so, and the connection closes."""
    assert 400 <= untouched.send(raw).status < 502


def test_a_malformed_chunk(untouched):
    """The request is broken off."""
    for tail in (b"zz\r\nabc\r\n", b"3\r\nabcdef\r\n", b"-1\r\n", b"f" * 40 + b"\r\n"):
        assert untouched.send(posting(untouched, "transfer-encoding: chunked") + tail).status in (0, 400)


def test_two_requests_in_one(site):
    """Bytes behind a body are a request of their own, which needs all that any request needs."""
    honest = posting(site, "content-length: 1").replace(b"connection: close\r\n", b"")
    before = len(site.asked)
    answer = site.send(honest + b"x" + b"GET /smuggled HTTP/1.1\r\nHost: evil\r\nConnection: close\r\n\r\n")
    assert b"421" in answer.body
    assert site.asked[before:] == [("POST", "/api")]


def test_connections_that_never_ask(monkeypatch):
    """They are closed in time: silent ones, slow ones, and those that stop after a first request; honest ones are answered."""
    monkeypatch.setattr(impatient, "HEADER_SECONDS", 0.4)
    with Site() as site:
        honest = f"GET /first HTTP/1.1\r\nHost: {site.host}\r\nCookie: {site.cookie}\r\n\r\n".encode()
        silent, slow, second = site.connect(), site.connect(), site.connect()
        second.sendall(honest)
        first = b""
        while not first.endswith(b"here"):
            first += second.recv(1000)
        second.sendall(b"GET /sec")
        start = time.perf_counter()
        threading.Thread(target=_drip, args=(slow,), daemon=True).start()
        for connection in (silent, slow, second):
            assert read(connection).status == 0
            connection.close()
        assert 0.2 < time.perf_counter() - start < 3.0
        assert site.alive()


def test_more_connections_than_there_may_be(monkeypatch):
    """The one too many is told so; when others leave, there is room again."""
    monkeypatch.setattr("sce.web.serving.MOST_CONNECTIONS", 5)
    with Site() as site:
        held = [site.connect() for _ in range(6)]
        time.sleep(0.1)
        assert site.ask().status == 503
        for connection in held:
            connection.close()
        time.sleep(0.1)
        assert site.alive()


def test_the_hosts_of_other_addresses():
    """Those of the address itself; of all addresses, those of this machine; none that others could choose."""
    assert allowed_hosts("192.168.1.5") == ("127.0.0.1", "localhost", "[::1]", "192.168.1.5")
    assert "[fe80::1]" in allowed_hosts("fe80::1")
    everywhere = allowed_hosts("0.0.0.0")
    assert {"localhost", socket.gethostname()} <= {*everywhere}
    assert "0.0.0.0" not in everywhere


def _drip(connection):
    """Send a byte now and then until the other side has had enough."""
    try:
        for byte in b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"y" * 100:
            connection.sendall(bytes([byte]))
            time.sleep(0.05)
    except OSError:
        pass
