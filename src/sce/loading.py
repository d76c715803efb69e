"""Open a result file, whatever its kind."""

from __future__ import annotations

from pathlib import Path

from sce.results import archive, maps, sweeps
from sce.results.maps import Map
from sce.results.sweeps import Sweep


def load(path: str | Path, *, whole: bool = True) -> Map | Sweep:
    """Open a map or a sweep.

    Large frames of a sweep, and large dense data kept in a map, are mapped read-only instead of being read: the file opens at
    once, and its pages are read as they are used. The result stays valid when another file takes the name. Arrays that are not
    aligned, as in earlier files, are read as a whole.

    Parameters
    ----------
    path : str or Path
        An .npz written by `sce embed`, `sce sweep`, :meth:`sce.Map.save` or :meth:`sce.Sweep.save`.
    whole : bool, default=True
        Whether to read the graph and the data as well, if they were saved.

    Returns
    -------
    Map or Sweep
        Whichever the file is.

    Raises
    ------
    InputError
        If the file is neither, or is damaged.

    Examples
    --------
    >>> import sce
    >>> sce.load("map.npz").Y.shape, len(sce.load("sweep.npz"))  # doctest: +SKIP
    ((1797, 2), 33)
    """
    with archive.opened(path, maps.MAP_KIND, sweeps.SWEEP_KIND) as file:
        if file.kind == maps.MAP_KIND:
            return maps.read_map(file, whole=whole)
        return sweeps.read_sweep(file, whole=whole)
