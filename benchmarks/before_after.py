"""Maps of an older version of sce beside those of this one, in black: what a change of the defaults does to what one sees.

Usage: SCE_DATA=folder python benchmarks/before_after.py /path/to/older/src [digits mnist ...] [-o docs/images/before_after.png]

Each map is made with the defaults of its version, in a process of its own, and kept beside the picture as an .npy file: a later
run draws it again.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from common import require_data

NAMES = ("digits", "newsgroups_svd100", "mnist", "ijcnn", "mocap_1m")
HERE = Path(__file__).resolve().parents[1] / "src"
FIT = """
import sys, numpy as np
from sce import SCE, datasets
np.save(sys.argv[2], SCE(random_state=0).fit_transform(datasets.load(sys.argv[1])[0]))
"""


def mapped(source: Path, name: str, path: Path) -> np.ndarray:
    """The map of a data set by the version whose modules are in a folder."""
    if not path.exists():
        environment = {**os.environ, "PYTHONPATH": str(source)}
        subprocess.run([sys.executable, "-W", "ignore", "-c", FIT, name, str(path)], env=environment, check=True)
    return np.asarray(np.load(path))


def main() -> None:
    """Fit, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("older", type=Path, help="the folder src of an older version")
    parser.add_argument("names", nargs="*", default=list(NAMES), metavar="data")
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/images/before_after.png"))
    parser.add_argument("--maps", type=Path, default=Path(tempfile.gettempdir()) / "sce-before-after")
    arguments = parser.parse_args()
    require_data()
    arguments.maps.mkdir(parents=True, exist_ok=True)

    import matplotlib.pyplot as plt

    from sce.plot import scatter

    figure, axes = plt.subplots(len(arguments.names), 2, figsize=(9, 4.5 * len(arguments.names)), squeeze=False)
    for row, name in zip(axes, arguments.names, strict=True):
        for ax, version, source in zip(row, ("before", "after"), (arguments.older, HERE), strict=True):
            Y = mapped(source, name, arguments.maps / f"{name}-{version}.npy")
            scatter(Y, ax=ax, frame="near")
            ax.set_title(f"{name}, {len(Y):,} points, {version}", fontsize=9)
            print(f"{name}, {version}: drawn", flush=True)
    figure.tight_layout()
    figure.savefig(arguments.output, dpi=70)


if __name__ == "__main__":
    main()
