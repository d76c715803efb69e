"""The colour scale of numbers and dates."""

import numpy as np
from matplotlib import colormaps

from plot.drawing import normal, written
from sce.data.labels import Numbers
from sce.plot import scatter
from sce.plot.scales import number_scale

GREY = np.full(3, 0.5)


def test_numbers_have_the_colours_of_their_map():
    """From its first to its last, missing ones grey; without a finite number there is no colour bar."""
    for name in ("viridis", "magma", "coolwarm"):
        paint, scale = number_scale(Numbers(np.array([2.0, 4.0, np.inf, np.nan])), colormaps[name], GREY)
        first, last = (np.array(colormaps[name](x))[:3] for x in (0.0, 1.0))
        np.testing.assert_allclose(paint.colors(), [first, last, last, GREY])
        assert (scale.norm.vmin, scale.norm.vmax, scale.cmap.name, scale.extend) == (2.0, 4.0, name, "max")
    for nothing in (np.nan, np.inf):
        assert number_scale(Numbers(np.full(3, nothing)), colormaps["viridis"], GREY)[1] is None


def test_dates_have_a_bar_with_dates():
    """Years, months or hours, whatever the unit of the dates; not a class for each day."""
    for unit, step, expected in (("D", 1, "2021"), ("ns", 86_400 * 10**9, "2021"), ("s", 60, "01-01")):
        start = np.datetime64("2020-01-01", unit)
        labels = start + np.arange(1446) * np.timedelta64(step, unit)
        ax = scatter(normal(1446), labels.astype(f"datetime64[{unit}]"))
        assert ax.get_legend() is None
        written(ax)
        (bar,) = ax.child_axes
        ticks = [text.get_text() for text in bar.get_yticklabels()]
        assert any(expected in text for text in ticks), ticks


def test_odd_dates_are_drawn():
    """Missing ones grey; all missing, all equal, and years beyond any calendar."""
    odd = np.array(["2020-01-01", "NaT", "2021-06-01"], "datetime64[ns]")
    colors = scatter(normal(3), odd).collections[0].get_facecolor()
    assert (np.ptp(colors[:, :3], axis=1) > 0).tolist() == [False, True, True]
    for text in (["NaT"] * 3, ["2020-01-01"] * 3, ["0001-01-01", "200000-01-01", "NaT"]):
        assert len(written(scatter(normal(3), np.array(text, "datetime64[s]")))) > 1000
