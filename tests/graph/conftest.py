"""Fixtures that send every search one way."""

import pytest

from searches import only


@pytest.fixture
def forest_only(monkeypatch):
    """Every dense search goes through the forest."""
    only(monkeypatch, "forest")


@pytest.fixture
def tree_only(monkeypatch):
    """Every dense search goes through the k-d tree."""
    only(monkeypatch, "k-d tree")


@pytest.fixture
def send(monkeypatch):
    """A function (way) that sends every dense search that way."""
    return lambda way: only(monkeypatch, way)
