"""How a table was made from a file, to be kept in a result and done again: what was read, and how it was prepared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from sce.data.datasets.find import about, is_name, load
from sce.data.preparation import Preparation
from sce.data.reader import ReadOptions, with_labels
from sce.data.table import Table
from sce.errors import InputError, SCEError


@dataclass(frozen=True)
class Recipe:
    """The options of reading and of preparation.

    Examples
    --------
    >>> recipe = Recipe(ReadOptions(header="yes"), Preparation(pca=0))
    >>> recipe.facts()
    {'pca': 0, 'header': 'yes'}
    >>> Recipe.from_facts(recipe.facts()) == recipe
    True
    """

    reading: ReadOptions = field(default_factory=ReadOptions)
    preparation: Preparation = field(default_factory=Preparation)

    def read(self, data: str | Path) -> Table:
        """The table of a file, or of a data set by its name; not prepared yet."""
        if not is_name(str(data)):
            return self.reading.read(data)
        X, y = load(str(data))
        table = Table(Path(data), X)
        if self.reading.labels is None and y is not None:
            table.labels, table.label_name = y, about(str(data)).labels
        return with_labels(table, self.reading.labels)

    def facts(self) -> dict[str, Any]:
        """The options that differ from their defaults, as JSON can hold them."""
        return {
            option.name: getattr(part, option.name)
            for part in (self.preparation, self.reading)
            for option in fields(part)
            if getattr(part, option.name) not in (option.default, [])
        }

    @classmethod
    def from_facts(cls, facts: Any) -> Recipe:
        """The recipe that :meth:`facts` described; other facts are ignored."""
        if not isinstance(facts, Mapping):
            raise InputError(f"The preparation must be a dictionary of options; got {facts!r}.")
        try:
            reading, preparation = (
                {option.name: facts[option.name] for option in fields(part) if option.name in facts}
                for part in (ReadOptions, Preparation)
            )
            return cls(ReadOptions(**reading), Preparation(**preparation))
        except (SCEError, TypeError) as error:
            raise InputError(f"The preparation of the map cannot be repeated: {error}") from None
