"""What is known about each data set: its shape, what its labels mean, the paper's similarities, where to get it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class About:
    """What is known about a data set.

    Attributes
    ----------
    name : str
        The name that :func:`sce.data.datasets.load` takes.
    summary : str
        What it is, in a few words.
    shape : tuple of two ints, optional
        Rows and columns; None for a file of your own.
    n_labels : int
        The number of distinct labels; 0 if there are none or it is not known.
    labels : str
        What the labels are, in the plural; empty if there are none.
    labels_are_classes : bool
        Whether the labels are groups that should appear as clusters, so that agreement with them is a measure of quality.
        Patients in cytometry are not: all of them have the same types of cells.
    similarities : dict
        How the paper computes P from these data, or from those that they stand for, as parameters of :class:`sce.SCE`; empty
        for data that the paper does not use.
    openml : int, optional
        Its number at openml.org.
    hint : str
        If it is not at openml.org: why not, and where it comes from.
    stands_for : str
        The data set of the paper that it stands in for; empty for most.
    """

    name: str
    summary: str = "a file of your own"
    shape: tuple[int, int] | None = None
    n_labels: int = 0
    labels: str = "labels"
    labels_are_classes: bool = True
    similarities: dict[str, Any] = field(default_factory=dict)
    openml: int | None = None
    hint: str = ""
    stands_for: str = ""


def _knn(n_neighbors: int) -> dict[str, Any]:
    return {"affinity": "knn", "n_neighbors": n_neighbors}


def _entropic(perplexity: float) -> dict[str, Any]:
    return {"affinity": "entropic", "perplexity": perplexity}


_PAPER = (
    About(
        "shuttle",
        "sensors of the space shuttle, raw columns (Statlog)",
        (58_000, 9),
        7,
        "states",
        similarities=_entropic(30.0),
        openml=40685,
    ),
    About("mnist", "handwritten digits, 28 x 28", (70_000, 784), 10, "digits", similarities=_knn(10), openml=554),
    About(
        "ijcnn",
        "ignition of ten engines (IJCNN 2001 competition)",
        (126_701, 22),
        10,
        "engines",
        similarities=_entropic(30.0),
        hint="is not at openml.org in this form (its number 1575 has more rows, and two classes instead of the ten "
        "engines); it is made from LIBSVM's files ijcnn1.tr and ijcnn1.t, as docs/datasets.md shows",
    ),
    About(
        "tomoradar",
        "radar profiles of a forest",
        (120_024, 8192),
        3,
        "classes",
        similarities=_knn(50),
        hint="is not public; the nearest stand-in is mocap_120k",
    ),
    About(
        "flow_cytometry",
        "cells measured by flow cytometry",
        (1_000_000, 17),
        labels="",
        similarities=_knn(15),
        hint="is not public as the paper prepared it, from FR-FCM-ZZ36 of flowrepository.org; the nearest stand-ins are "
        "cytof_bcrxl and flow_hipc",
    ),
    About(
        "higgs",
        "simulated collisions of particles",
        (11_000_000, 28),
        2,
        "kinds (signal, background)",
        similarities=_knn(5),
        openml=45570,
    ),
)

_STAND_INS = (
    About(
        "mocap_120k",
        "motion capture, long thin trajectories",
        (119_136, 60),
        92,
        "trials",
        labels_are_classes=False,
        similarities=_knn(50),
        hint="is a selection that openml.org does not have",
        stands_for="tomoradar",
    ),
    About(
        "cytof_bcrxl",
        "cells measured by mass cytometry (BCR-XL)",
        (172_791, 24),
        8,
        "patients",
        labels_are_classes=False,
        similarities=_knn(15),
        hint="is not at openml.org; the Bioconductor package HDCytoData has it",
        stands_for="flow_cytometry",
    ),
    About(
        "flow_hipc",
        "cells measured by flow cytometry, of known types",
        (33_992, 6),
        10,
        "cell types",
        similarities=_knn(15),
        hint="is not at openml.org",
        stands_for="flow_cytometry",
    ),
    About(
        "higgs_11k",
        "a sample of higgs",
        (10_984, 28),
        2,
        "kinds (signal, background)",
        similarities=_knn(5),
        hint="is a sample that openml.org does not have",
        stands_for="higgs",
    ),
)

_OTHERS = (
    About("digits", "handwritten digits, 8 x 8, in scikit-learn", (1797, 64), 10, "digits"),
    About("coil20", "objects on a turntable, 32 x 32", (1440, 1024), 20, "objects", openml=46783),
    About(
        "mocap_1m",
        "motion capture, a million rows",
        (999_963, 60),
        98,
        "subjects",
        labels_are_classes=False,
        hint="is a selection that openml.org does not have",
    ),
    About(
        "adbench_http",
        "connections to a web server, masses of duplicates",
        (567_498, 3),
        2,
        "kinds (normal, attack)",
        hint="is not at openml.org; ADBench has it",
    ),
)

KNOWN = {one.name: one for one in (*_PAPER, *_STAND_INS, *_OTHERS)}
