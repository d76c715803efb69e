"""The commands of `sce` and all their options."""

from __future__ import annotations

from sce.cli.groups import DRAWING, GRAPH, LAYOUT, PREPARING, READING, TALK, WRITING
from sce.cli.options import Command, Group, Option

EXIT_CODES = {
    0: "all went well",
    1: "an error in sce itself; please report it with what --debug shows",
    2: "the command line, or the value of an option, cannot be understood",
    3: "the data, the graph or the map cannot be used as they are",
    4: "a file cannot be written",
    130: "stopped by Ctrl-C",
}

COMMANDS = [
    Command(
        "embed",
        "make a map of your data",
        "Make a map: points that are similar in the data lie together. Nothing is written unless all went well.",
        [READING, PREPARING, GRAPH, LAYOUT, WRITING, TALK],
        "sce.cli.embed:run",
        [
            "sce embed cells.csv -o map.npz --plot map.png",
            "sce embed cells.parquet --labels type --normalize robust --pca 50",
            "sce embed --graph P.npz --labels classes.csv -o map.npz",
            "sce embed images.npy --save-graph P.npz && sce embed images.npy --graph P.npz --alpha 0.1",
        ],
    ),
    Command(
        "plot",
        "draw a map",
        "Draw a map: black points, classes with a legend, or a number with a colour bar.",
        [DRAWING, TALK],
        "sce.cli.plot:run",
        ["sce plot map.npz -o map.png", "sce plot map.npz -o map.svg --labels cells.csv:age --kind number"],
    ),
    Command(
        "info",
        "say what a map file holds",
        "Say what a map file holds: points, labels, parameters, how the run went.",
        [Group("what to look at", [Option("map", "a map made by sce embed (.npz)", metavar="MAP")]), TALK],
        "sce.cli.info:run",
        ["sce info map.npz", "sce info map.npz --json"],
    ),
    Command(
        "export",
        "write a map as a table: .csv or .tsv",
        "Write a row for each point: its id, its coordinates, its label, and on request the cluster it is in.",
        [
            Group(
                "the table",
                [
                    Option("map", "a map made by sce embed (.npz)", metavar="MAP"),
                    Option(
                        "--output", "the table (.csv or .tsv); MAP.csv in this folder if not given", "FILE", short="-o"
                    ),
                    Option(
                        "--clusters",
                        "add the clusters that are seen in the picture, found by HDBSCAN; -1 for none",
                        flag=True,
                    ),
                ],
            ),
            TALK,
        ],
        "sce.cli.export:run",
        ["sce export map.npz -o map.csv --clusters"],
    ),
    Command(
        "demo",
        "embed handwritten digits, and leave a picture to look at",
        "Write digits.csv, 1,797 handwritten digits, embed them and draw them: a first look, and a file to try things on.",
        [
            Group(
                "where",
                [Option("--folder", "where to write digits.csv, digits.map.npz, digits.png", "FOLDER", str, ".")],
            ),
            TALK,
        ],
        "sce.cli.demo:run",
        ["sce demo"],
    ),
]
