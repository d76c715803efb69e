"""Static files: only those of the table, whatever the address says."""

import re

import pytest
from servers import Site

from sce.errors import InputError
from sce.web.static_files import StaticFiles, read_static

FILES = {
    "index.html": b'<link rel="stylesheet" href="/static/style.css"><script type="module" src="/static/app.js"></script>',
    "app.js": b'import { a } from "./points.js";\nimport {\n  b,\n} from "./points.js";\nconst text = "./points.js";\n',
    "points.js": b"export const a = 1;\nexport const b = 2;\n",
    "style.css": b"main { color: red }",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Files from two folders; a secret lies beside them."""
    folder = tmp_path_factory.mktemp("package")
    for name, content in FILES.items():
        place = folder / ("one" if name == "points.js" else "two")
        (place / "inner").mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
    (folder / "secret.js").write_text("secret")
    (folder / "two" / "inner" / "deep.js").write_text("secret")
    (folder / "two" / "secret.py").write_text("secret")
    with Site(StaticFiles(read_static([folder / "one", folder / "two"]))) as running:
        running.files = running.guard.app
        yield running


def test_files_come_as_they_are(site):
    """With their media types; the page is at the root."""
    answer = site.ask("/static/style.css")
    assert (answer.status, answer.body) == (200, FILES["style.css"])
    assert answer.headers["content-type"] == "text/css; charset=utf-8"
    assert site.ask("/static/points.js").headers["content-type"] == "text/javascript; charset=utf-8"
    assert site.ask("/").headers["content-type"] == "text/html; charset=utf-8"
    assert site.ask("/static/style.css", "HEAD").body == b""


def test_the_page_names_the_modules_that_its_script_imports(site):
    """Once each, before the script, so that the browser asks for all at once."""
    page = site.ask("/").body.decode()
    assert re.findall(r'<link rel="modulepreload" href="/static/(.+?)\?v=', page) == ["points.js"]
    assert page.index("modulepreload") < page.index("<script")


def test_addresses_have_the_stamp_of_the_contents(site):
    """In the page and in imports, and nowhere else; what is asked for with it may be kept, all else is confirmed."""
    page, app = site.ask("/").body.decode(), site.ask("/static/app.js").body.decode()
    stamp = site.files.stamp
    named = [f"/static/{name}?v={stamp}" for name in ("style.css", "points.js", "app.js")]
    assert re.findall(r'"(/static/[^"]*)"', page) == named
    assert re.findall(r'"(\./[^"]*)"', app) == [f"./points.js?v={stamp}", f"./points.js?v={stamp}", "./points.js"]
    assert "immutable" in site.ask(f"/static/app.js?v={stamp}").headers["cache-control"]
    for other in ("/static/app.js", "/static/app.js?v=old", f"/?v={stamp}"):
        assert site.ask(other).headers["cache-control"] == "no-cache"
    assert StaticFiles({**FILES, "style.css": b"main { color: blue }"}).stamp != stamp


def test_what_the_browser_has_is_not_sent_again(site):
    """It names what it has."""
    tag = site.ask("/static/app.js").headers["etag"]
    answer = site.ask("/static/app.js", if_none_match=f'"other", W/{tag}')
    assert (answer.status, answer.body) == (304, b"")
    assert site.ask("/static/app.js", if_none_match='"other"').status == 200


@pytest.mark.parametrize(
    "path",
    [
        *(
            "../secret.js",
            "..%2fsecret.js",
            "%2e%2e/secret.js",
            "%2e%2e%2fsecret.js",
            "..\\secret.js",
            "..%5csecret.js",
        ),
        *("....//secret.js", "./../secret.js", "x/../../secret.js", "%252e%252e%252fsecret.js", "..%c0%afsecret.js"),
        *(
            "/secret.js",
            "//etc/passwd",
            "/etc/passwd",
            "..;/secret.js",
            "inner/deep.js",
            "secret.py",
            "app.js/",
            "app.js%00",
        ),
        *(
            "app.js%00.css",
            "APP.JS",
            "./app.js",
            "",
            ".",
            "..",
            "app.js.",
            "C:/secret.js",
            "file:///etc/passwd",
            "index.html",
        ),
    ],
)
def test_no_path_leads_out(site, path):
    """In whatever spelling."""
    answer = site.ask(f"/static/{path}")
    assert answer.status == 404
    assert b"secret" not in answer.body


def test_addresses_without_a_place(site):
    """Roots of other kinds."""
    for target in ("/static", "*", "http://evil.example/static/app.js", "//static/app.js", "/..", "/%2e%2e/etc/passwd"):
        assert site.ask(target).status in (400, 404)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_files_can_only_be_read(site, method):
    """As the answer says."""
    answer = site.ask("/static/app.js", method, origin=f"http://{site.host}")
    assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")


def test_two_files_of_one_name(tmp_path):
    """Are an error, for one would hide the other."""
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.js").write_text("")
    with pytest.raises(InputError, match=r"Two static files are called x\.js; rename"):
        read_static([tmp_path / "a", tmp_path / "b"])
