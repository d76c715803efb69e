"""The colour scale of numbers."""

import numpy as np
from matplotlib import colormaps

from sce.plot.scales import number_scale


def test_numbers_have_the_colours_of_viridis():
    """From its first to its last; without a finite number there is no colour bar."""
    paint, (norm, cmap, extend) = number_scale(np.array([2.0, 4.0, np.inf]))
    first, last = (np.array(colormaps["viridis"](x))[:3] for x in (0.0, 1.0))
    np.testing.assert_allclose(paint.colors(), [first, last, last])
    assert (norm.vmin, norm.vmax, cmap.name, extend) == (2.0, 4.0, "viridis", "max")
    for nothing in (np.nan, np.inf):
        assert number_scale(np.full(3, nothing))[1] is None
