"""Errors and warnings of sce.

Every message says in one or two sentences what is wrong, where, and what to do::

    SCEError (ValueError)
    ├── InputError       the data, the graph or a file cannot be used as they are
    ├── ParameterError   a parameter has a value that makes no sense
    └── OutputError      a file cannot be written (also an OSError)

    SCEWarning (UserWarning)
    ├── GraphWarning     the similarity graph was repaired, or is of a kind that makes poor pictures
    └── DataWarning      the data were usable, but not as requested (too few rows, many duplicates)
        └── ScalingWarning   a few columns with large numbers determine the map
"""

from __future__ import annotations


class SCEError(ValueError):
    """Base of all errors raised by sce on purpose."""


class InputError(SCEError):
    """The data or the graph cannot be used as they are."""


class ParameterError(SCEError):
    """A parameter has a value that makes no sense."""


class OutputError(SCEError, OSError):
    """A file cannot be written."""


class SCEWarning(UserWarning):
    """Base of all warnings given by sce."""


class GraphWarning(SCEWarning):
    """The similarity graph was repaired, or is of a kind that makes poor pictures."""


class DataWarning(SCEWarning):
    """The data were usable, but not as requested."""


class ScalingWarning(DataWarning):
    """A few columns with large numbers determine the map."""
