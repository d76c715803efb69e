"""From vectors to a map, against umap-learn, openTSNE and PaCMAP, each with its defaults, each in fresh processes.

Usage: SCE_DATA=... python benchmarks/peers.py [mnist ...] [--methods sce umap opentsne pacmap]

Needs the extra [peers]. A process is run twice for each method, because the first may compile what the second finds on disk;
the second counts. Reported are the seconds that the process takes as a whole, import included; those of a second fit in the
same process; and the share of points whose 15 nearest on the map are mostly of their own class.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time

import numpy as np

from common import require_data
from sce import datasets
from sce.quality import label_accuracy

METHODS = {
    "sce": "from sce import SCE; fit = lambda X: SCE(random_state=0).fit_transform(X)",
    "umap": "import umap; fit = lambda X: umap.UMAP().fit_transform(X)",
    "opentsne": "import openTSNE; fit = lambda X: np.asarray(openTSNE.TSNE(n_jobs=-1, random_state=0).fit(X))",
    "pacmap": "import pacmap; fit = lambda X: pacmap.PaCMAP().fit_transform(X)",
}

CODE = """
import json, sys, time, numpy as np
from sce import datasets
X = np.ascontiguousarray(datasets.load({name!r}).X, np.float32)
{method}
fit(X)
start = time.perf_counter()
Y = fit(X) if {again} else None
print(json.dumps(time.perf_counter() - start))
if Y is not None:
    np.save({path!r}, Y)
"""


def run(name: str, method: str, path: str, *, again: bool) -> tuple[float, float]:
    """Seconds of the process, and of its second fit."""
    code = CODE.format(name=name, method=METHODS[method], again=again, path=path)
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, capture_output=True, text=True)
    return time.perf_counter() - start, float(json.loads(done.stdout.splitlines()[-1]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=["mnist"])
    parser.add_argument("--methods", nargs="*", default=list(METHODS))
    args = parser.parse_args()
    require_data()
    for name in args.names:
        y = datasets.load(name).y
        print(f"{name:<10} {'process':>9} {'warm fit':>9} {'15-NN accuracy':>15}")
        for method in args.methods:
            path = f"/tmp/{name}-{method}.npy"
            run(name, method, path, again=False)
            fresh, _ = run(name, method, path, again=False)
            _, warm = run(name, method, path, again=True)
            print(f"{method:<10} {fresh:8.1f}s {warm:8.1f}s {label_accuracy(np.load(path), y):15.3f}", flush=True)
