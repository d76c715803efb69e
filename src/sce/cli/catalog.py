"""The commands of `sce` and all their options."""

from __future__ import annotations

from sce.cli.groups import (
    COMPARED_GRAPH,
    COMPARING,
    DRAWING,
    GRAPH,
    LAYOUT,
    MEASURING,
    PREPARING,
    READING,
    SWEEP_WRITING,
    SWEEPING,
    TALK,
    WRITING,
)
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
        "sce.cli.commands.embed:run",
        [
            "sce embed cells.csv -o map.npz --plot map.png",
            "sce embed cells.parquet --labels type --normalize robust --pca 50",
            "sce embed --graph P.npz --labels classes.csv -o map.npz",
            "sce embed images.npy --save-graph P.npz && sce embed images.npy --graph P.npz --alpha 0.5",
        ],
    ),
    Command(
        "sweep",
        "make maps over the whole range of repulsion, for a slider",
        "Make a map for each of many repulsion weights r, each started from its neighbour, so that they morph into one "
        "another; mark the r that SCE and t-SNE choose; measure quality over r.",
        [READING, PREPARING, GRAPH, SWEEPING, SWEEP_WRITING, TALK],
        "sce.cli.commands.sweep:run",
        [
            "sce sweep cells.csv -o sweep.npz --plot series.png",
            "sce sweep mnist --n-neighbors 10 --log10-r 0:6:0.5",
            "sce sweep --graph P.npz --labels classes.csv --alpha 0:1:0.1",
        ],
    ),
    Command(
        "plot",
        "draw a map, or a sweep",
        "Draw a map: black points, classes with a legend, or a number with a colour bar. Of a sweep, draw a series of maps "
        "with quality over r under them.",
        [DRAWING, TALK],
        "sce.cli.commands.plot:run",
        ["sce plot map.npz -o map.png", "sce plot map.npz -o map.svg --labels cells.csv:age --kind number"],
    ),
    Command(
        "info",
        "say what a map or a sweep file holds",
        "Say what a map or a sweep file holds: points, labels, parameters, how the run went.",
        [Group("what to look at", [Option("map", "a map or a sweep (.npz)", metavar="MAP")]), TALK],
        "sce.cli.commands.info:run",
        ["sce info map.npz", "sce info map.npz --json"],
    ),
    Command(
        "quality",
        "measure whether what a map shows is in the data",
        "Measure how much of the data a map keeps, and whether its clusters are in the graph. What needs the data or the graph "
        "is left out, and said, where neither the map holds them (embed with --keep-data, --keep-graph) nor an option names "
        "them. Several maps of the same data are also compared with each other.",
        [MEASURING, TALK],
        "sce.cli.commands.quality:run",
        [
            "sce quality map.npz --data cells.csv --graph P.npz",
            "sce quality map.npz --clusters lasso.csv:cluster --plot blocks.png",
            "sce quality map.npz --graph P.npz --seeds 4",
        ],
    ),
    Command(
        "compare",
        "compare methods on the same data, as the paper does",
        "Run many methods on the same data, each in a process of its own, and leave a figure, a table of quality and a page "
        "with both. What is in the folder already is used again where nothing that it was made from has changed, so "
        "a comparison that was stopped goes on where it was.",
        [READING, PREPARING, COMPARED_GRAPH, COMPARING, TALK],
        "sce.cli.commands.compare:run",
        [
            "sce compare digits -o comparison",
            "sce compare cells.csv --labels type --methods sce,tsne,umap-vectors,pacmap",
            "sce compare mnist --methods sce,gsne:r=10,largevis:n_samples=2e8 --time-limit 600 --blocks",
        ],
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
        "sce.cli.commands.export:run",
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
        "sce.cli.commands.demo:run",
        ["sce demo"],
    ),
]
