"""How long a user waits in a fresh process: for `import sce`, and for a map of scikit-learn's digits from the import on.

Usage: python benchmarks/startup.py

The first process may compile kernels; the best of the next five counts.
"""

from __future__ import annotations

import subprocess
import sys
import time

DIGITS = "from sklearn.datasets import load_digits; from sce import SCE; SCE(random_state=0).fit(load_digits().data)"


def best(code: str, repeats: int = 5) -> tuple[float, float]:
    """Seconds of the first process and of the best of the later ones, including the start of Python itself."""
    times = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        times.append(time.perf_counter() - start)
    return times[0], min(times[1:])


if __name__ == "__main__":
    _, bare = best("pass")
    _, light = best("import sce")
    print(f"import sce: {light - bare:.3f} s beyond the {bare:.3f} s of Python itself")
    first, later = best(DIGITS)
    print(f"digits end to end in a fresh process: {later:.2f} s (the very first: {first:.2f} s)")
