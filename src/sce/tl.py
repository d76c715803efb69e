"""scanpy's manner of calling: ``sce.tl.sce(adata)`` after ``scanpy.pp.neighbors(adata)``.

Nothing of scanpy or anndata is imported: all that is needed of an AnnData object is its attributes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sce.core.hints import did_you_mean
from sce.core.random import bits_array, stream, unit
from sce.core.validate import draw_seed
from sce.errors import InputError, ParameterError
from sce.estimator import SCE
from sce.layout.start import STARTS
from sce.results.annotated import ABOUT_KEY, MAP_KEY, described

__all__ = ["sce"]

_OF_THE_SEARCH = (
    "affinity",
    "n_neighbors",
    "perplexity",
    "metric",
)  # parameters of SCE without effect on a given graph
_DEFAULT_NEIGHBORS = "neighbors"  # where scanpy.pp.neighbors puts what it did


def sce(
    adata: Any,
    n_components: int = 2,
    *,
    neighbors_key: str | None = None,
    use_rep: str | None = None,
    key_added: str = MAP_KEY,
    init_pos: str | np.ndarray | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    copy: bool = False,
    **parameters: Any,
) -> Any:
    """Embed the cells of an AnnData object, as ``scanpy.tl.umap`` does.

    Parameters
    ----------
    adata : AnnData
        After ``scanpy.pp.neighbors``, unless `use_rep` is given.
    n_components : {1, 2, 3}, default=2
        Dimensions of the map.
    neighbors_key : str, optional
        The key of ``uns`` that tells which matrix of ``obsp`` is the graph; "neighbors" by default.
    use_rep : str, optional
        Search for neighbours in this representation, "X" or a key of ``obsm`` such as "X_pca", instead of using a graph.
    key_added : str, default="X_sce"
        The key of ``obsm`` for the map; its parameters go to ``uns["sce"]``, or to ``uns[key_added]`` for another key.
    init_pos : str or array, optional
        The starting coordinates: a key of ``obsm``, "paga" (after ``scanpy.pl.paga``), an array, or a start of :class:`sce.SCE`
        such as "random". Of a representation with more columns than the map, the first ones are used.
    random_state : int, RandomState or None, default=0
        The seed. The same seed gives the same bytes on any number of threads.
    n_jobs : int or None, default=None
        Threads; None means all cores.
    copy : bool, default=False
        Return a copy instead of changing `adata`.
    **parameters
        Further parameters of :class:`sce.SCE`, such as `alpha`; with `use_rep` also `n_neighbors`, `perplexity`, `metric` and
        `affinity`.

    Returns
    -------
    AnnData or None
        The copy, or None. ``obsm[key_added]`` holds the map, ``uns["sce"]["params"]`` what was used to make it.

    Examples
    --------
    >>> import anndata
    >>> cells = anndata.AnnData(np.random.default_rng(0).normal(size=(200, 5)))
    >>> sce(cells, use_rep="X")
    >>> cells.obsm["X_sce"].shape
    (200, 2)
    """
    _check(adata, neighbors_key, use_rep, key_added, parameters)
    seed = random_state if isinstance(random_state, int | np.integer) else draw_seed(random_state)
    source, X = _graph(adata, neighbors_key) if use_rep is None else _representation(adata, use_rep)
    init = (
        "auto" if init_pos is None else _start(adata, init_pos, n_components, int(seed), searched=use_rep is not None)
    )
    if use_rep is None:
        parameters = {**parameters, "affinity": "precomputed"}
    result = adata.copy() if copy else adata
    model = SCE(n_components, init=init, random_state=seed, n_jobs=n_jobs, **parameters).fit(X)
    result.obsm[key_added] = model.embedding_
    start = {} if init_pos is None else {"init_pos": init_pos if isinstance(init_pos, str) else "array"}
    used = {**source, **start, "random_state": int(seed), "n_components": n_components, **parameters}
    result.uns[_home(key_added)] = described(used, model.scale_, model.n_epochs_)
    return result if copy else None


def _check(
    adata: Any, neighbors_key: str | None, use_rep: str | None, key_added: str, parameters: dict[str, Any]
) -> None:
    """Refuse what is not AnnData, and parameters that have no effect."""
    if not all(hasattr(adata, name) for name in ("obsm", "obsp", "uns")):
        raise InputError(f"adata must be an AnnData object; got {type(adata).__name__}: for arrays use sce.SCE().fit.")
    if not isinstance(key_added, str) or not key_added:
        raise ParameterError(f"key_added must be a name, such as 'X_sce'; got {key_added!r}.")
    _check_names(adata, key_added, parameters)
    if use_rep is not None and neighbors_key is not None:
        raise ParameterError("neighbors_key names a graph and use_rep searches for a new one; leave one of them out.")
    if use_rep is None:
        for name in _OF_THE_SEARCH:
            if name in parameters:
                raise ParameterError(
                    f"{name} has no effect on the graph of scanpy.pp.neighbors; leave it out, or add use_rep='X_pca' to search "
                    "for neighbours anew."
                )


def _check_names(adata: Any, key_added: str, parameters: dict[str, Any]) -> None:
    """Refuse unknown parameters, and names under which there is something else."""
    known = SCE().get_params()
    if "init" in parameters:
        raise ParameterError("init is called init_pos here, as in scanpy.")
    for name in parameters:
        if name not in known:
            ours = [*(known.keys() - {"init"}), "neighbors_key", "use_rep", "key_added", "init_pos"]
            raise ParameterError(f"There is no parameter {name!r}{did_you_mean(name, sorted(ours))}")
    key = _home(key_added)
    entry = adata.uns.get(key)
    is_ours = hasattr(entry, "keys") and {"params", "r"} <= set(entry)
    if not is_ours and (entry is not None or key_added in adata.obsm):
        what = f"uns[{key!r}]" if entry is not None else f"obsm[{key_added!r}]"
        raise ParameterError(
            f"key_added={key_added!r} would replace {what}, which is no map of sce; choose another name."
        )


def _home(key_added: str) -> str:
    """The key of uns for the parameters of a map, as scanpy chooses it."""
    return ABOUT_KEY if key_added == MAP_KEY else key_added


def _graph(adata: Any, neighbors_key: str | None) -> tuple[dict[str, Any], Any]:
    """What to record, and the connectivities that ``scanpy.pp.neighbors`` made."""
    key = neighbors_key or _DEFAULT_NEIGHBORS
    if key not in adata.uns:
        others = [name for name in adata.uns if _is_graph(adata, name)]
        hint = f"neighbors_key could be {' or '.join(map(repr, others))}" if others else ""
        added = "" if neighbors_key is None else f", key_added={key!r}"
        run = f"run scanpy.pp.neighbors(adata{added}) first, or embed a representation with use_rep={_some(adata)!r}"
        raise InputError(f"adata has no neighbour graph uns[{key!r}]; {hint or run}.")
    entry = adata.uns[key]
    matrix = entry.get("connectivities_key", "connectivities")
    if matrix not in adata.obsp:
        raise InputError(
            f"adata has uns[{key!r}], but not its graph obsp[{matrix!r}]; run scanpy.pp.neighbors(adata) again."
        )
    return {"neighbors_key": key}, adata.obsp[matrix]


def _is_graph(adata: Any, key: str) -> bool:
    """Whether an entry of uns names a graph; that of older versions of scanpy goes without saying where it is."""
    entry = adata.uns[key]
    return hasattr(entry, "get") and ("connectivities_key" in entry or (key == _DEFAULT_NEIGHBORS and bool(adata.obsp)))


def _some(adata: Any) -> str:
    return "X_pca" if "X_pca" in adata.obsm else "X"


def _representation(adata: Any, use_rep: str) -> tuple[dict[str, Any], Any]:
    """What to record, and X or an array of obsm."""
    if use_rep == "X":
        X = adata.X
    elif use_rep in adata.obsm:
        X = adata.obsm[use_rep]
    else:
        raise InputError(f"adata has no obsm[{use_rep!r}]; use_rep can be {', '.join(map(repr, ['X', *adata.obsm]))}.")
    if X is None:
        raise InputError("adata has no X; name an array of obsm with use_rep=, such as 'X_pca'.")
    return {"use_rep": use_rep}, X if hasattr(X, "tocsr") else np.asarray(X)


def _start(adata: Any, init_pos: Any, n_components: int, seed: int, *, searched: bool) -> Any:
    """The starting coordinates, or the name of a start of SCE."""
    if not isinstance(init_pos, str):
        Y = np.asarray(init_pos)
        if Y.shape != (adata.n_obs, n_components):
            raise InputError(
                f"init_pos must have the shape {(adata.n_obs, n_components)} of the map; it has {Y.shape}."
            )
        return Y
    if init_pos in adata.obsm:
        known = np.asarray(adata.obsm[init_pos])
        if known.ndim != 2 or known.shape[1] < n_components:
            raise InputError(
                f"obsm[{init_pos!r}] has the shape {known.shape}, but the map will have {n_components} dimensions; choose "
                "another init_pos."
            )
        return known[:, :n_components]
    if init_pos == "paga":
        return _paga_start(adata, n_components, seed)
    starts = [name for name in STARTS if searched or name != "pca"]  # which needs vectors
    if init_pos in starts:
        return init_pos
    listed = ", ".join(map(repr, [*adata.obsm, "paga", *starts]))
    raise InputError(f"adata has no obsm[{init_pos!r}]; init_pos can be {listed}, or an array.")


def _paga_start(adata: Any, n_components: int, seed: int) -> np.ndarray:
    """Each cell near its group in the drawing of PAGA, scattered as far as halfway to the group most connected with it."""
    paga = adata.uns.get("paga", {})
    if "pos" not in paga:
        raise InputError("adata has no positions of groups, uns['paga']['pos']; run scanpy.pl.paga(adata) first.")
    place = np.asarray(paga["pos"], np.float64)
    if place.shape[1] != n_components:
        raise InputError(
            f"init_pos='paga' has {place.shape[1]} dimensions, but the map will have {n_components}; choose another start."
        )
    group = adata.obs[paga["groups"]].cat.codes.to_numpy()
    if (group < 0).any() or group.max() >= len(place):
        raise InputError(f"obs[{paga['groups']!r}] has other groups than uns['paga']; run scanpy.tl.paga(adata) again.")
    links = np.asarray(paga["connectivities"].todense())
    nearest = links.argmax(axis=1)
    reach = np.where(links.max(axis=1, keepdims=True) > 0, (place[nearest] - place) / 2, 0.0)
    reach = np.sqrt((reach**2).sum(axis=1))
    n = len(group)
    scatter = unit.py_func(bits_array(stream(seed, "paga"), n * n_components)).reshape(n, n_components) - 0.5
    return place[group] + reach[group, None] * scatter
