"""Maps to explore, and a client that talks to the application of a session without a network."""

import asyncio
import base64
from pathlib import Path

import httpx
import numpy as np

from sce import SCE, Map
from sce.explore.app import make_api
from sce.explore.heavy import MOST_POINTS_IN_A_THREAD
from sce.explore.opening import open_session
from sce.web.packing import unpack


def small_map(path, n=60, **attributes):
    """A map of three blobs, saved, with text labels."""
    rng = np.random.default_rng(0)
    Y = (rng.normal(size=(n, 2)) + 12 * np.array([[0, 0], [1, 0], [0, 1]])[np.arange(n) % 3]).astype(np.float32)
    labels = np.array(["left", "right", "top"])[np.arange(n) % 3]
    given = {"labels": labels, "label_name": "where", "r": 2.0, **attributes}
    Map(Y, given.pop("ids", np.arange(n)), **given).save(path)
    return path


def many_points(folder, n=MOST_POINTS_IN_A_THREAD + 1):
    """A map of three blobs with so many points that what takes long is done by worker processes; with its data."""
    rng = np.random.default_rng(0)
    blob = np.arange(n) % 3
    X = (rng.normal(size=(len(blob), 3)) + 12 * np.eye(3)[blob]).astype(np.float32)
    path = Path(folder) / "many.npz"
    given = {"labels": blob, "label_name": "blob", "parameters": SCE(random_state=0).get_params(), "r": 1.0}
    Map(X[:, :2], np.arange(n), X=X, **given).save(path)
    return path


def bitmap(rows, n):
    """Rows as they travel."""
    bits = np.zeros(n, np.uint8)
    bits[list(rows)] = 1
    return base64.b64encode(np.packbits(bits, bitorder="little")).decode()


class Page:
    """What a page asks of a session; `get` and `post` return a response of httpx."""

    def __init__(self, session):
        self.session, self.app = session, make_api(session)

    @classmethod
    def open(cls, *args, **options):
        return cls(open_session(*args, **options))

    def ask(self, method, address, **options):
        async def go():
            transport = httpx.ASGITransport(app=self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
                return await client.request(method, address, **options)

        return asyncio.run(go())

    def get(self, address, **params):
        return self.ask("GET", address, params=params or None)

    def post(self, address, body):
        return self.ask("POST", address, json=body)

    def arrays(self, address, **params):
        """(meta, arrays) of a container."""
        answer = self.get(address, **params)
        assert answer.status_code == 200, answer.text
        return unpack(answer.content)

    def do(self, kind, base=None, rows=None, **op):
        """An operation on the named clusters, based on the present revision unless another is given."""
        base = self.session.keeper.document.revision if base is None else base
        if rows is not None:
            op["rows"] = bitmap(rows, self.session.n)
        return self.post("/api/naming", {"base": base, "op": {"kind": kind, **op}})
