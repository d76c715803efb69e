"""Run a piece of Python in a process of its own."""

import os
import subprocess
import sys


def run(code, *, timeout=300, cwd=None, **environment):
    """The standard output of the code; its standard error is shown if it fails. A variable set to None is removed."""
    merged = {**os.environ, **environment}
    merged = {name: value for name, value in merged.items() if value is not None}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=merged, timeout=timeout, cwd=cwd, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
