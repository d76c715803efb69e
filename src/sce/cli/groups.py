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

TALK = Group(
    "what is said",
    [
        Option("--quiet", "say nothing but warnings and errors", flag=True),
        Option(
            "--json", "write one JSON object about the result to standard output, and nothing else there", flag=True
        ),
        Option("--debug", "show where in the code an error came from", flag=True),
    ],
)

READING = Group(
    "reading",
    [
        Option(
            "data",
            "a table with a row for each point: .npy, .npz, .csv, .tsv, .txt, .parquet, .mtx or .h5ad; text and .mtx also "
            "with .gz; or the name of a data set, such as mnist. May be left out where --graph is given",
            metavar="DATA",
            required=False,
        ),
        Option("--columns", "take these columns only: names, or ranges such as 0:9, with commas", "NAMES", names),
        Option("--drop", "leave these columns out, written in the same way", "NAMES", names),
        Option(
            "--labels",
            "what to colour by: a column, an array of the file, another file, FILE:COLUMN, or none; recognised if not given",
            "NAME",
        ),
        Option("--ids", "the column that names the rows; recognised if not given", "NAME"),
        Option("--weights", "how many points each row stands for: a column, an array, a file or FILE:COLUMN", "NAME"),
        Option("--array", "which array of an .npz, or which layer or obsm of an .h5ad", "NAME"),
        Option(
            "--header",
            "whether the first row of a text has the names of the columns: auto, yes or no",
            "HOW",
            choice("auto", "yes", "no"),
            "auto",
        ),
        Option("--decimal-comma", "numbers in a text are written as 1,5", flag=True),
        Option("--transpose", "the columns of the file are the points", flag=True),
    ],
)

PREPARING = Group(
    "preparing the data, in this order",
    [
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
            "bring columns to one scale: standard (mean and standard deviation), robust (median and quartiles) or none. If "
            "not given none, with advice where columns differ wildly",
            "HOW",
            choice("standard", "robust", "none"),
        ),
        Option("--one-hot", "turn columns of text into columns of 0 and 1", flag=True),
        Option(
            "--pca",
            "reduce the columns to this many principal components, found on up to 20,000 rows; 0 for none, however many "
            "columns there are",
            "N",
            whole,
        ),
    ],
)

GRAPH = Group(
    "the similarity graph",
    [
        Option(
            "--affinity",
            "entropic (the nearer, the stronger, as in t-SNE), knn (neighbours or not), or precomputed (DATA is the graph)",
            "KIND",
            choice("entropic", "knn", "precomputed"),
            "entropic",
            parameter="affinity",
        ),
        Option(
            "--n-neighbors", "nearest neighbours that a point is joined to", "K", whole, 15, parameter="n_neighbors"
        ),
        Option(
            "--perplexity",
            "effective number of neighbours, for entropic, of three times as many; a third of --n-neighbors if not given",
            "NUMBER",
            number,
            parameter="perplexity",
        ),
        Option(
            "--metric",
            "euclidean, cosine, correlation, manhattan, any other of scikit-learn, or precomputed (DATA are distances)",
            "NAME",
            str,
            "euclidean",
            parameter="metric",
        ),
        Option(
            "--graph",
            "use this graph instead of searching for neighbours: saved by --save-graph, or any square matrix of "
            "similarities in .npz, .mtx, .npy, or in obsp of an .h5ad",
            "FILE",
        ),
        Option("--save-graph", "save the graph, to be used again with --graph (.npz)", "FILE"),
    ],
)

LAYOUT = Group(
    "the layout",
    [
        Option("--n-components", "dimensions of the map: 1, 2 or 3", "D", whole, 2, parameter="n_components"),
        Option(
            "--scale",
            "how much repulsion: sce (by --alpha), sne (as t-SNE), or a number, the repulsion weight r",
            "RULE",
            number_or("sce", "sne"),
            "sce",
            parameter="scale",
        ),
        Option("--alpha", "for sce: from 0 (loose, as t-SNE) to 1 (tight)", "NUMBER", number, 0.1, parameter="alpha"),
        Option("--exaggeration", "for sne: factor on the attraction", "NUMBER", number, 1.0, parameter="exaggeration"),
        Option(
            "--n-epochs",
            "rounds of the sampler, of 10 steps for each point, or the most iterations of the gradient; or auto",
            "N",
            whole_or("auto"),
            "auto",
            parameter="n_epochs",
        ),
        Option(
            "--learning-rate",
            "the first rate, which falls to 0, or first and last as 1,0.1; or auto",
            "RATE",
            rates,
            "auto",
            parameter="learning_rate",
        ),
        Option("--n-repulsive", "repulsive pairs for each attractive one", "N", whole, 1, parameter="n_repulsive"),
        Option(
            "--init",
            "the start: auto, pca, spectral, random, or coordinates in an .npy or a map",
            "START",
            str,
            "auto",
            parameter="init",
        ),
        Option(
            "--tol",
            "stop when an epoch changes map and r by a smaller share than this; auto is 0 for the sampler, 0.001 for the "
            "gradient",
            "NUMBER",
            number_or("auto"),
            "auto",
            parameter="tol",
        ),
        Option(
            "--optimizer",
            "sampler (fast, for weak repulsion), gradient (to the minimum, for any), or auto: coarse maps, sampler, and "
            "gradient where that pays",
            "NAME",
            choice("auto", "sampler", "gradient"),
            "auto",
            parameter="optimizer",
        ),
        Option("--seed", "the same seed gives the same map, on any number of threads", "N", whole, 0),
        Option("--n-jobs", "threads; all cores if not given", "N", whole, parameter="n_jobs"),
        Option("--engine", "where the layout is computed", "NAME", choice("threads"), "threads", parameter="engine"),
    ],
)

WRITING = Group(
    "writing",
    [
        Option("--output", "the map (.npz); DATA.map.npz in this folder if not given", "FILE", short="-o"),
        Option("--plot", "draw the map at once (.png, .svg or .pdf)", "FILE"),
        Option("--keep-data", "keep the prepared data in the map", flag=True),
        Option("--keep-graph", "keep the graph in the map", flag=True),
    ],
)

SWEEPING = Group(
    "the sweep",
    [
        Option(
            "--log10-r",
            "the logarithms of the repulsion weights r, as FIRST:LAST:STEP or with commas; 0:8:0.25 if not given",
            "NUMBERS",
            span,
        ),
        Option(
            "--alpha",
            "the alpha whose r is marked as SCE's (default: 0.1); or several, as 0:1:0.1, to sweep over alpha instead of r",
            "NUMBERS",
            number_or_span,
        ),
        Option("--afresh", "start every map from the same weak one, not from its neighbour in the sweep", flag=True),
        *(option for option in LAYOUT.options if option.name in ("--tol", "--seed", "--n-jobs")),
    ],
)

SWEEP_WRITING = Group(
    "writing",
    [
        Option("--output", "the sweep (.npz); DATA.sweep.npz in this folder if not given", "FILE", short="-o"),
        Option("--plot", "draw the maps and their quality in one picture (.png, .svg or .pdf)", "FILE"),
        Option("--keep-graph", "keep the graph in the sweep", flag=True),
    ],
)

DRAWING = Group(
    "the picture",
    [
        Option("map", "a map made by sce embed, or a sweep made by sce sweep (.npz)", metavar="MAP"),
        Option("--output", "the picture (.png, .svg or .pdf); MAP.png in this folder if not given", "FILE", short="-o"),
        Option(
            "--labels",
            "colour by the labels in FILE or FILE:COLUMN, by clusters found in the picture (clusters; of a sweep in that at "
            "SCE's r), or not at all (none); "
            "by those in the map if not given",
            "NAME",
        ),
        Option(
            "--kind",
            "what the labels are: classes with a legend, a number with a colour bar, or auto",
            "KIND",
            choice("auto", "classes", "number"),
            "auto",
        ),
        Option(
            "--size", "area of a dot in points squared; chosen from the number of points if not given", "NUMBER", number
        ),
        Option("--opacity", "of a dot, above 0 and up to 1; chosen if not given", "NUMBER", number),
        Option("--title", "a line above the picture", "TEXT"),
        Option("--width", "width of the map in inches", "NUMBER", number, 6.6),
        Option("--n-maps", "how many maps of a sweep to show", "N", whole, 12),
        Option("--dpi", "dots per inch of a .png, and of the dots of more than 100,000 points", "N", whole, 150),
    ],
)

MEASURING = Group(
    "what to measure",
    [
        Option(
            "maps",
            "maps made by sce embed (.npz); the first is described, the others compared with it",
            "MAP",
            many=True,
        ),
        Option("--data", "the data that were embedded; they are prepared as they were for the map", "FILE"),
        Option("--graph", "the graph of the data, as saved by sce embed --save-graph", "FILE"),
        Option(
            "--labels",
            "the known classes: FILE or FILE:COLUMN, or none; the labels in the map if not given",
            "NAME",
        ),
        Option(
            "--clusters",
            "the clusters to judge: found (on the map, by HDBSCAN), classes (the known ones), or FILE or FILE:COLUMN",
            "NAME",
            str,
            "found",
        ),
        Option("--seeds", "embed again with so many other seeds, and measure how much the maps agree", "N", whole),
        Option("--plot", "draw the graph with its rows and columns ordered by cluster (.png, .svg or .pdf)", "FILE"),
        Option("--seed", "of the samples that are measured", "N", whole, 0),
        Option("--n-jobs", "threads; all cores if not given", "N", whole),
    ],
)

# P is kept in the folder of the comparison.
COMPARED_GRAPH = Group(GRAPH.title, [option for option in GRAPH.options if option.name != "--save-graph"])

COMPARING = Group(
    "the comparison",
    [
        Option(
            "--methods",
            f"with commas between them: {', '.join(METHODS)}; with a parameter as gsne:r=10 or largevis:n_samples=2e8. Those "
            "whose names end in -vectors, and pacmap, make their own graph. All if not given",
            "NAMES",
            names,
        ),
        Option(
            "--output", "the folder to write to; it may hold other comparisons", "FOLDER", str, "comparison", short="-o"
        ),
        Option("--time-limit", "seconds for each method", "SECONDS", number, 1800.0),
        Option("--retry", "try again what failed or was too slow before", flag=True),
        Option("--blocks", "also draw the graph, ordered by the clusters of SCE and of t-SNE", flag=True),
        Option("--seed", "of the graph and of all methods that take one", "N", whole, 0),
        Option("--n-jobs", "threads for each method; all cores if not given", "N", whole),
    ],
)
