"""The options that commands share, in groups."""

from __future__ import annotations

from sce.cli.options import (
    Group,
    Option,
    choice,
    names,
    number,
    number_or,
    number_or_span,
    rates,
    span,
    whole,
    whole_or,
)
from sce.compare.methods import METHODS
from sce.core.hints import alternatives
from sce.data.kinds import READABLE_FILES
from sce.graph.affinity_names import AFFINITY_NAMES, WITH_PERPLEXITY
from sce.graph.metrics import OWN_METRICS
from sce.layout.scale_names import SCALE_NAMES, rules_with

OUTPUT = Group(
    "output",
    [
        Option("--quiet", "print only warnings and errors", flag=True),
        Option("--json", "print one JSON object about the result, and nothing else, on standard output", flag=True),
        Option("--debug", "show the traceback of an error", flag=True),
    ],
)

READING = Group(
    "reading",
    [
        Option(
            "data",
            f"a table with one row per point: {READABLE_FILES}, or the name of a data set "
            "such as mnist. Not needed with --graph",
            metavar="DATA",
            required=False,
        ),
        Option(
            "--columns", "use only these columns: names, or ranges such as 0:9, separated by commas", "NAMES", names
        ),
        Option("--drop", "leave out these columns: names, or ranges such as 0:9, separated by commas", "NAMES", names),
        Option("--keep", "use these columns as data, although they look like ids, labels or dates", "NAMES", names),
        Option(
            "--labels",
            "what to colour by: a column, an array of the file, another file, FILE:COLUMN, or none; recognised by default",
            "NAME",
        ),
        Option(
            "--ids", "the column with the names of the rows, FILE, FILE:COLUMN, or none; recognised by default", "NAME"
        ),
        Option(
            "--weights",
            "the number of points that each row stands for: a column, an array, FILE or FILE:COLUMN",
            "NAME",
        ),
        Option("--array", "which array of an .npz, or which layer, obsm or obsp of an .h5ad", "NAME"),
        Option(
            "--header",
            "whether the first row of a text table holds the names of the columns: auto, yes or no",
            "HOW",
            choice("auto", "yes", "no"),
            "auto",
        ),
        Option("--decimal-comma", "numbers in a text table are written as 1,5", flag=True),
        Option(
            "--edges",
            "whether a table is a list of edges, which makes it a graph: auto, yes, no, or its columns of source, target and "
            "weight, as from,to or 0,1,2",
            "COLUMNS",
            str,
            "auto",
        ),
        Option("--transpose", "the columns of the file are the points", flag=True),
    ],
)

PREPARING = Group(
    "preparing the data, in this order",
    [
        Option(
            "--auto",
            "do what the table needs: leave out useless columns, fill gaps, turn text into numbers, scale; and say so",
            flag=True,
        ),
        Option(
            "--missing",
            "missing values: refuse them, drop their rows, or fill in the mean or median of the column",
            "HOW",
            choice("refuse", "drop", "mean", "median"),
            "refuse",
        ),
        Option("--log1p", "take ln(1 + x), for counts", flag=True),
        Option(
            "--normalize",
            "scale the columns: standard (mean and standard deviation), robust (median and quartiles) or none. By default "
            "none, with advice where columns differ widely",
            "HOW",
            choice("standard", "robust", "none"),
        ),
        Option("--one-hot", "turn columns of text into columns of 0 and 1", flag=True),
        Option("--merge-copies", "make one point of all rows that are equal, weighted by their number", flag=True),
        Option(
            "--pca",
            "reduce the columns to this many principal components, found on up to 20,000 rows; 0 for none, however many "
            "columns there are",
            "N",
            whole,
        ),
    ],
)

GRAPH_OPTIONS = Group(
    "the similarity graph",
    [
        Option(
            "--affinity",
            alternatives(f"{name} ({kind.meaning})" for name, kind in AFFINITY_NAMES.items()),
            "KIND",
            choice(*AFFINITY_NAMES),
            "shared",
            parameter="affinity",
        ),
        Option(
            "--n-neighbors",
            "nearest neighbours of each point. By default 15, up to 25 in small tables of few dimensions",
            "K",
            whole,
            parameter="n_neighbors",
        ),
        Option(
            "--perplexity",
            f"for {alternatives(WITH_PERPLEXITY)}, the effective number of neighbours; uses 3 x perplexity neighbours. By "
            "default a third of --n-neighbors, more where the data have few dimensions or very many",
            "NUMBER",
            number,
            parameter="perplexity",
        ),
        Option(
            "--metric",
            f"{', '.join(OWN_METRICS)}, any other metric of scikit-learn, or precomputed (DATA holds distances)",
            "NAME",
            str,
            "euclidean",
            parameter="metric",
        ),
        Option(
            "--graph",
            "use this graph instead of searching for neighbours: one saved by --save-graph, any square matrix of similarities "
            "in .npz, .mtx, .npy or in obsp of an .h5ad, a .graphml or .gml, or a list of edges",
            "FILE",
        ),
        Option("--save-graph", "save the graph for later use with --graph (.npz)", "FILE"),
    ],
)

LAYOUT = Group(
    "the layout",
    [
        Option("--n-components", "dimensions of the map: 1, 2 or 3", "D", whole, 2, parameter="n_components"),
        Option(
            "--scale",
            "the rule for repulsion: "
            + alternatives(
                [
                    *(f"{name} ({rule.meaning})" for name, rule in SCALE_NAMES.items()),
                    "a number, the repulsion weight r",
                ]
            ),
            "RULE",
            number_or(*SCALE_NAMES),
            "sce",
            parameter="scale",
        ),
        Option(
            "--alpha",
            f"for {alternatives(rules_with('alpha'))}: from 0 (loose clusters, as t-SNE) to 1 (tight clusters)",
            "NUMBER",
            number,
            0.05,
            parameter="alpha",
        ),
        Option(
            "--exaggeration",
            f"for {alternatives(rules_with('exaggeration'))}: factor on the attraction",
            "NUMBER",
            number,
            1.0,
            parameter="exaggeration",
        ),
        Option(
            "--n-epochs",
            "epochs of the sampler, of 10 steps per point, or the maximum number of iterations of the gradient; or auto",
            "N",
            whole_or("auto"),
            "auto",
            parameter="n_epochs",
        ),
        Option(
            "--learning-rate",
            "the initial rate, which decreases to 0, or the initial and the final one as 1,0.1; or auto",
            "RATE",
            rates,
            "auto",
            parameter="learning_rate",
        ),
        Option("--n-repulsive", "repulsive pairs per attractive pair", "N", whole, 1, parameter="n_repulsive"),
        Option(
            "--init",
            "the initial map: auto, pca, spectral, random, or coordinates in an .npy or a map",
            "START",
            str,
            "auto",
            parameter="init",
        ),
        Option(
            "--tol",
            "stop when an epoch changes the map and r by less than this fraction; auto is 0 for the sampler, 0.001 for the "
            "gradient",
            "NUMBER",
            number_or("auto"),
            "auto",
            parameter="tol",
        ),
        Option(
            "--optimizer",
            "sampler (fast, for weak repulsion), gradient (down to the minimum, for any repulsion), or auto: coarse maps, "
            "then the sampler, then the gradient where that pays",
            "NAME",
            choice("auto", "sampler", "gradient"),
            "auto",
            parameter="optimizer",
        ),
        Option("--seed", "the same seed gives the same map, on any number of threads", "N", whole, 0),
        Option("--n-jobs", "threads; all cores by default", "N", whole, parameter="n_jobs"),
    ],
)

WRITING = Group(
    "writing",
    [
        Option("--output", "the map (.npz); by default DATA.map.npz in the current folder", "FILE", short="-o"),
        Option("--plot", "also draw the map (.png, .svg or .pdf)", "FILE"),
        Option("--keep-data", "keep the prepared data in the map", flag=True),
        Option("--keep-graph", "keep the graph in the map", flag=True),
        Option(
            "--write-h5ad", "also copy DATA, an .h5ad, with the map in obsm['X_sce'], where scanpy finds it", "FILE"
        ),
    ],
)

SWEEPING = Group(
    "the sweep",
    [
        Option(
            "--log10-r",
            "the logarithms of the repulsion weights r, as FIRST:LAST:STEP or separated by commas; by default 0:8:0.25",
            "NUMBERS",
            span,
        ),
        Option(
            "--alpha",
            "the alpha whose r is marked as SCE's (default: 0.05); or several, as 0:1:0.1, to sweep over alpha instead of r",
            "NUMBERS",
            number_or_span,
        ),
        Option(
            "--afresh",
            "start every map from the same map of weak repulsion, not from its neighbour in the sweep",
            flag=True,
        ),
        *(option for option in LAYOUT.options if option.name in ("--tol", "--seed", "--n-jobs")),
    ],
)

SWEEP_WRITING = Group(
    "writing",
    [
        Option("--output", "the sweep (.npz); by default DATA.sweep.npz in the current folder", "FILE", short="-o"),
        Option("--plot", "also draw the maps and their quality in one picture (.png, .svg or .pdf)", "FILE"),
        Option("--keep-graph", "keep the graph in the sweep", flag=True),
    ],
)

MEASURING = Group(
    "what to measure",
    [
        Option(
            "maps",
            "maps made by sce embed (.npz); the first is described, the others are compared with it",
            "MAP",
            many=True,
        ),
        Option("--data", "the data that were embedded; prepared again as they were for the map", "FILE"),
        Option("--graph", "the graph of the data, as saved by sce embed --save-graph", "FILE"),
        Option(
            "--labels",
            "the known classes: FILE or FILE:COLUMN, or none; by default the labels in the map",
            "NAME",
        ),
        Option(
            "--clusters",
            "the clusters to assess: found (on the map, by HDBSCAN), classes (the known ones), FILE or FILE:COLUMN",
            "NAME",
            str,
            "found",
        ),
        Option("--seeds", "embed again with this many other seeds, and measure how well the maps agree", "N", whole),
        Option(
            "--thorough",
            "also look for groups of the graph without the help of the map, and at its spectrum; takes several times as long",
            flag=True,
        ),
        Option("--plot", "draw the graph with its rows and columns ordered by cluster (.png, .svg or .pdf)", "FILE"),
        Option(
            "--points",
            "also write the figures of every point (.csv, .parquet and others), to colour by: sce plot MAP --labels "
            "FILE:neighbors_kept; with --seeds the agreement of the seeds as well",
            "FILE",
        ),
        Option("--seed", "the seed of the random samples that are measured", "N", whole, 0),
        Option("--n-jobs", "threads; all cores by default", "N", whole),
    ],
)

EXPLORING = Group(
    "what to explore",
    [
        Option(
            "map",
            "a map made by sce embed, a sweep made by sce sweep (.npz), a file with data, or the name of a data set; data are "
            "embedded with the defaults, and the map is kept in the current folder",
            metavar="MAP",
        ),
        Option(
            "--data",
            "the data that were embedded, or the name of their data set: for columns, pictures, neighbours and figures",
            "FILE",
        ),
        Option(
            "--graph",
            "the graph of the data, as saved by sce embed --save-graph; without it, it is made again from the data",
            "FILE",
        ),
        Option(
            "--columns",
            "the columns of the data to show and to colour by: names, or ranges such as 0:9, separated by commas; by default "
            "up to 100",
            "NAMES",
            names,
        ),
        Option(
            "--images",
            "the size of the images that the rows are, as 28x28; no if they are none; auto recognises square ones",
            "SIZE",
            str,
            "auto",
        ),
        Option("--labels", "labels in FILE or FILE:COLUMN, or none; by default the labels in the map", "NAME"),
        Option("--port", "the port of the page; by default a free one", "N", whole, 0),
        Option("--host", "the address to serve at", "NAME", str, "127.0.0.1"),
        Option("--no-browser", "print the address of the page, and do not open it", flag=True),
        Option("--n-jobs", "threads of the embedding; all cores by default", "N", whole),
    ],
)

# The graph is kept in the folder of the comparison, so it need not be saved.
COMPARED_GRAPH = Group(
    GRAPH_OPTIONS.title, [option for option in GRAPH_OPTIONS.options if option.name != "--save-graph"]
)

COMPARING = Group(
    "the comparison",
    [
        Option(
            "--methods",
            f"separated by commas: {', '.join(METHODS)}; with a parameter as gsne:r=10 or largevis:n_samples=2e8. "
            "pacmap, localmap and the methods ending in -vectors compute their own graph. All by default",
            "NAMES",
            names,
        ),
        Option(
            "--output", "the folder to write to; it may hold other comparisons", "FOLDER", str, "comparison", short="-o"
        ),
        Option("--time-limit", "seconds for each method", "SECONDS", number, 1800.0),
        Option("--retry", "run methods again that failed or were too slow before", flag=True),
        Option("--blocks", "also draw the graph, ordered by the clusters of SCE and of t-SNE", flag=True),
        Option("--seed", "the seed of the graph and of all methods that take one", "N", whole, 0),
        Option("--n-jobs", "threads for each method; all cores by default", "N", whole),
    ],
)
