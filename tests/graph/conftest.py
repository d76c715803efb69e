"""What the tests of the graph share."""

import numpy as np
import pytest

from sce.parallel import Team


@pytest.fixture
def team():
    """Two threads."""
    with Team(2) as two:
        yield two


@pytest.fixture
def mixture():
    """A function (n, d) -> rows from ten Gaussian clouds."""

    def draw(n, d, seed=0):
        rng = np.random.default_rng(seed)
        centres = 4 * rng.normal(size=(10, d))
        return (centres[rng.integers(0, 10, n)] + rng.normal(size=(n, d))).astype(np.float32)

    return draw
