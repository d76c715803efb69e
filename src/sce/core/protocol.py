"""scikit-learn's estimator protocol, without importing scikit-learn until somebody asks for it.

scikit-learn imports scipy.stats, and pandas and pyarrow where they are installed: with its base classes,
``from sce import SCE`` took 3.3 s instead of 1.0. So parameters and their text are handled here. All else that scikit-learn's
tools ask of an estimator (tags, routing of sample weights, names and types of outputs, the picture in notebooks) is answered by
scikit-learn itself, through a twin of the estimator that has its base classes and shares its attributes.
"""

from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING, Any

from sce.core.hints import did_you_mean
from sce.errors import ParameterError

if TYPE_CHECKING:
    from typing_extensions import Self

_MOST_CHARACTERS = 700  # of the text of an estimator


class Estimator:
    """Base of an estimator whose parameters are those of ``__init__``, and which has ``fit`` and ``fit_transform``."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """The parameters by name; `deep` has no effect, because none of them is an estimator."""
        return {name: getattr(self, name) for name in _defaults(type(self))}

    def set_params(self, **params: Any) -> Self:
        """Change parameters; an unknown name changes none of them."""
        known = _defaults(type(self))
        for name in params:
            if name not in known:
                raise ParameterError(f"Invalid parameter {name!r} for {type(self).__name__}{did_you_mean(name, known)}")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        text = f"{type(self).__name__}({self._changed()})"
        return text if len(text) <= _MOST_CHARACTERS else text[: _MOST_CHARACTERS - 3] + "..."

    def _changed(self) -> str:
        """The parameters that differ from the defaults."""
        changed = {
            name: value
            for name, value in self.get_params().items()
            if value is not (default := _defaults(type(self))[name]) and repr(value) != repr(default)
        }
        return ", ".join(f"{name}={value!r}" for name, value in changed.items())

    # ------------------------------------------------------------------------------------------ what scikit-learn answers

    def __sklearn_tags__(self) -> Any:
        return _twin(self).__sklearn_tags__()

    def get_metadata_routing(self) -> Any:
        """Which metadata `fit` asks for, where scikit-learn's routing is enabled."""
        return _twin(self).get_metadata_routing()

    def set_fit_request(self, **requests: Any) -> Self:
        """Ask for metadata of `fit`, such as ``sample_weight=True``, where scikit-learn's routing is enabled."""
        routing = self.get_metadata_routing()
        for name, wanted in requests.items():
            routing.fit.add_request(param=name, alias=wanted)
        for part in (routing, *vars(routing).values()):  # the twin, whose class cannot be pickled, is their owner
            if hasattr(part, "owner"):
                part.owner = type(self).__name__
        self._metadata_request = routing
        return self

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """The names of the columns of a map, such as ``sce0`` and ``sce1``."""
        return _twin(self).get_feature_names_out(input_features)

    def set_output(self, *, transform: str | None = None) -> Self:
        """What `fit_transform` returns: "default", "pandas" or "polars"."""
        _twin(self).set_output(transform=transform)
        return self

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        return _twin(self)._repr_mimebundle_(**kwargs)


def wrapping(estimator: Any) -> Any:
    """The twin whose `fit_transform` returns a data frame, where the user or scikit-learn's configuration asks for one."""
    wanted = getattr(estimator, "_sklearn_output_config", {}).get("transform")
    if wanted is None and "sklearn" in sys.modules:
        wanted = sys.modules["sklearn"].get_config()["transform_output"]
    is_twin = type(estimator) in _made.values()
    return None if wanted in (None, "default") or is_twin else _twin(estimator)


def _defaults(kind: Any) -> dict[str, Any]:
    """The parameters of a kind of estimator with their defaults, sorted by name as in scikit-learn."""
    parameters = inspect.signature(kind.__init__).parameters.values()
    return {each.name: each.default for each in sorted(parameters, key=lambda each: each.name) if each.name != "self"}


_made: dict[type, Any] = {}  # kind of estimator: that of its twin


def _twin(estimator: Any) -> Any:
    """The same estimator with scikit-learn's base classes; what is set on one is set on both."""
    kind = type(estimator)
    if kind not in _made:
        _made[kind] = _make_twin(kind)
    twin: Any = object.__new__(_made[kind])
    twin.__dict__ = estimator.__dict__
    return twin


def _make_twin(kind: Any) -> type:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

    def fit_transform(self: Any, X: Any, y: Any = None, **metadata: Any) -> Any:
        return kind.fit_transform(self, X, y, **metadata)

    def tags(self: Any) -> Any:
        return self._describe_to(super(_made[kind], self).__sklearn_tags__())

    bases = (ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, kind)
    names = {"fit_transform": fit_transform, "__sklearn_tags__": tags, "__module__": kind.__module__}
    return type(kind.__name__, bases, names)
