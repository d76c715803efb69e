"""The words that `scale` may be. Imports nothing else of sce, because the help of the command line lists them."""

from typing import NamedTuple


class ScaleName(NamedTuple):
    """What a rule is, in a few words, and which of `alpha` and `exaggeration` apply to it."""

    meaning: str
    parameters: tuple[str, ...] = ()


SCALE_NAMES = {  # layout/scale.py has the rules
    "sce": ScaleName("by alpha", ("alpha",)),
    "sne": ScaleName("as t-SNE", ("exaggeration",)),
}


def rules_with(parameter: str) -> list[str]:
    """The rules to which a parameter applies.

    Examples
    --------
    >>> rules_with("alpha")
    ['sce']
    """
    return [name for name, rule in SCALE_NAMES.items() if parameter in rule.parameters]
