"""The commands of `sce` and all their options."""

from __future__ import annotations

from sce.cli.groups import (
    COMPARED_GRAPH,
    COMPARING,
    EXPLORING,
    GRAPH_OPTIONS,
    LAYOUT,
    MEASURING,
    OUTPUT,
    PREPARING,
    READING,
    SWEEP_WRITING,
    SWEEPING,
    WRITING,
)
from sce.cli.options import Command, Group, Option
from sce.cli.picture_groups import COLORING, DRAWING

EXIT_CODES = {
    0: "success",
    1: "an internal error; please report it with the output of --debug",
    2: "the command line, or the value of an option, is not valid",
    3: "the data, the graph or the map cannot be used",
    4: "a file cannot be written",
    130: "interrupted by Ctrl-C",
}

# What most people need: --help shows these, --help-all everything.
_FIRST = ("data", "--auto", "--labels", "--drop", "--normalize", "--graph", "--output", "--seed")
_FIRST_OF_EMBED = (*_FIRST, "--metric", "--perplexity", "--alpha", "--plot")
_FIRST_OF_SWEEP = (*_FIRST, "--log10-r", "--alpha", "--plot")
_FIRST_OF_COMPARE = (*_FIRST, "--methods", "--time-limit", "--blocks")

COMMANDS = [
    Command(
        "embed",
        "make a map of your data",
        "Make a map in which similar points lie close together. Nothing is written unless the whole run succeeds.",
        [READING, PREPARING, GRAPH_OPTIONS, LAYOUT, WRITING, COLORING, OUTPUT],
        "sce.cli.commands.embed:run",
        [
            "sce embed cells.csv -o map.npz --plot map.png",
            "sce embed cells.parquet --labels type --normalize robust --pca 50",
            "sce embed --graph P.npz --labels classes.csv -o map.npz",
            "sce embed images.npy --save-graph P.npz && sce embed images.npy --graph P.npz --alpha 0.5",
        ],
        first=_FIRST_OF_EMBED,
    ),
    Command(
        "sweep",
        "make maps over the whole range of repulsion, for a slider",
        "Make maps for many repulsion weights r, each started from its neighbour, so that they morph into one another; mark "
        "the r that SCE and t-SNE choose; measure quality as a function of r.",
        [READING, PREPARING, GRAPH_OPTIONS, SWEEPING, SWEEP_WRITING, COLORING, OUTPUT],
        "sce.cli.commands.sweep:run",
        [
            "sce sweep cells.csv -o sweep.npz --plot series.png",
            "sce sweep mnist --n-neighbors 10 --log10-r 0:6:0.5",
            "sce sweep --graph P.npz --labels classes.csv --alpha 0:1:0.1",
        ],
        first=_FIRST_OF_SWEEP,
    ),
    Command(
        "plot",
        "draw a map or a sweep",
        "Draw a map: black points, classes with a legend, or a number with a colour bar. For a sweep, draw a series of maps "
        "above their quality as a function of r.",
        [DRAWING, OUTPUT],
        "sce.cli.commands.plot:run",
        [
            "sce plot map.npz -o map.png",
            "sce plot map.npz --names --theme dark",
            "sce plot map.npz --highlight neurons,glia --palette Set2",
            "sce plot map.npz -o map.svg --labels cells.csv:age --kind number",
        ],
    ),
    Command(
        "info",
        "describe a map or a sweep file",
        "Describe a map or a sweep file: points, labels, parameters, how the run went.",
        [Group("input", [Option("map", "a map or a sweep (.npz)", metavar="MAP")]), OUTPUT],
        "sce.cli.commands.info:run",
        ["sce info map.npz", "sce info map.npz --json"],
    ),
    Command(
        "quality",
        "measure whether the structure in a map is in the data",
        "Measure how much of the data a map preserves, and whether its clusters are in the graph. Figures that need the data "
        "or the graph are left out, with a remark, unless the map holds them (embed with --keep-data, --keep-graph) or an "
        "option names them. Several maps of the same data are also compared with each other.",
        [MEASURING, OUTPUT],
        "sce.cli.commands.quality:run",
        [
            "sce quality map.npz --data cells.csv --graph P.npz",
            "sce quality map.npz --clusters lasso.csv:cluster --plot blocks.png",
            "sce quality map.npz --graph P.npz --seeds 4",
        ],
    ),
    Command(
        "explore",
        "see, question and name the clusters of a map in a browser",
        "Open a page in the browser with a map, a sweep, or data, which are embedded first. Clusters are selected, named, and "
        "kept beside the map in MAP.clusters.jsonl. The page is served to this machine only, until Ctrl-C.",
        [EXPLORING, OUTPUT],
        "sce.cli.commands.explore:run",
        [
            "sce explore map.npz",
            "sce explore map.npz --data cells.csv --columns age,city --labels cells.csv:type",
            "sce explore mnist --no-browser --port 8000",
        ],
    ),
    Command(
        "compare",
        "compare methods on the same data, as the paper does",
        "Run many methods on the same data, each in its own process, and write a figure, a table of quality and a page with "
        "both. Results in the folder are reused if nothing they depend on has changed, so an interrupted comparison "
        "resumes.",
        [READING, PREPARING, COMPARED_GRAPH, COMPARING, OUTPUT],
        "sce.cli.commands.compare:run",
        [
            "sce compare digits -o comparison",
            "sce compare cells.csv --labels type --methods sce,tsne,umap-vectors,pacmap",
            "sce compare mnist --methods sce,gsne:r=10,largevis:n_samples=2e8 --time-limit 600 --blocks",
        ],
        first=_FIRST_OF_COMPARE,
    ),
    Command(
        "export",
        "write a map as a table",
        "Write one row per point: its id, coordinates and label, and optionally its cluster. The ending of the file says how: "
        ".csv, .tsv, .parquet, .arrow, .feather or .jsonl.",
        [
            Group(
                "the table",
                [
                    Option("map", "a map made by sce embed (.npz)", metavar="MAP"),
                    Option(
                        "table", "the table; by default MAP.csv in the current folder", metavar="TABLE", required=False
                    ),
                    Option(
                        "--output",
                        "the table, where TABLE is not given",
                        "FILE",
                        short="-o",
                    ),
                    Option(
                        "--clusters",
                        "add the clusters seen in the map, found by HDBSCAN; -1 for none",
                        flag=True,
                    ),
                ],
            ),
            OUTPUT,
        ],
        "sce.cli.commands.export:run",
        ["sce export map.npz map.csv --clusters", "sce export map.npz map.parquet"],
    ),
    Command(
        "demo",
        "embed handwritten digits and draw them",
        "Write digits.csv, 1,797 handwritten digits, embed them and draw the map: a first look, and a file to try things on.",
        [
            Group(
                "where to write",
                [Option("--folder", "the folder for digits.csv, digits.map.npz, digits.png", "FOLDER", str, ".")],
            ),
            OUTPUT,
        ],
        "sce.cli.commands.demo:run",
        ["sce demo"],
    ),
    Command(
        "doctor",
        "what this machine has, and what is missing",
        "Show versions, threads, memory, compiled kernels and browser, which optional packages are missing for what, and how "
        "to get them.",
        [
            Group(
                "what to do",
                [
                    Option(
                        "--compile",
                        "compile the kernels now, so that the first fit starts at once: for images and class rooms",
                        flag=True,
                    )
                ],
            ),
            OUTPUT,
        ],
        "sce.cli.commands.doctor:run",
        ["sce doctor", "sce doctor --compile"],
    ),
]
