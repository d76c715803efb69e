"""Numbers of clusters by decreasing size."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sce.clusters.numbering import number_by_size


def slow_numbers(labels):
    """Sort the labels in use by size, then by their first row."""
    names = sorted(set(labels) - {-1}, key=lambda name: (-labels.count(name), labels.index(name)))
    return [names.index(label) if label >= 0 else -1 for label in labels]


@given(st.lists(st.integers(-1, 9), min_size=1, max_size=40))
def test_larger_clusters_have_lower_numbers(labels):
    """As sorting gives them, with ties, unused numbers and points in no cluster; int32."""
    found = number_by_size(np.array(labels))
    assert found.dtype == np.int32
    assert found.tolist() == slow_numbers(labels)
