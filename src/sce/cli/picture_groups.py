"""The options of pictures, in groups."""

from __future__ import annotations

from sce.cli.options import Group, Option, choice, names, number, palette, whole

COLORING = Group(
    "the picture of --plot",
    [
        Option(
            "--palette",
            "the colours of classes: a palette or colour map of matplotlib, such as Set2; a colour for each class, as "
            "red,#1b9e77; or by name, as a=red,b=#1b9e77. By default colour-blind people can tell up to 10 apart",
            "COLOURS",
            palette,
        ),
        Option("--colormap", "the colours of numbers and dates: a colour map of matplotlib, such as magma", "NAME"),
        Option("--highlight", "colour these classes only; the others are grey beneath them", "CLASSES", names),
        Option("--names", "write the names of classes on the map instead of beside it", flag=True),
        Option("--theme", "light or dark", "NAME", choice("light", "dark"), "light"),
    ],
)

DRAWING = Group(
    "the picture",
    [
        Option("map", "a map made by sce embed, or a sweep made by sce sweep (.npz)", metavar="MAP"),
        Option(
            "--output",
            "the picture (.png, .svg or .pdf), or a page in one file to explore the map without a network (.html); by default "
            "MAP.png in the current folder",
            "FILE",
            short="-o",
        ),
        Option(
            "--labels",
            "colour by the labels in FILE or FILE:COLUMN, by the clusters found in the map (clusters; in a sweep, in the map "
            "at SCE's r), or not at all (none); by default by the labels in the map",
            "NAME",
        ),
        Option(
            "--kind",
            "the kind of labels: classes with a legend, a number with a colour bar, or auto",
            "KIND",
            choice("auto", "classes", "number"),
            "auto",
        ),
        Option(
            "--size", "area of a dot in points squared; by default chosen by the number of points", "NUMBER", number
        ),
        Option("--opacity", "opacity of a dot, above 0 and up to 1; chosen by default", "NUMBER", number),
        Option(
            "--frame",
            "where much of the picture would be empty: auto draws groups closer together than they lie, and up to 1 in 200 "
            "points that lie far out on the border; near draws only these on the border; all draws all points where they are",
            "FRAME",
            choice("auto", "near", "all"),
            "auto",
        ),
        *COLORING.options,
        Option("--title", "a line above the picture", "TEXT"),
        Option("--width", "longer side of the map in inches", "NUMBER", number, 6.6),
        Option("--n-maps", "number of maps of a sweep to show", "N", whole, 12),
        Option("--data", "for .html: the data that were embedded, for --columns, --images and --neighbors", "FILE"),
        Option("--columns", "for .html: columns of the data to put into the page, by name or range", "NAMES", names),
        Option(
            "--images", "for .html: put thumbnails of the rows into the page, of this size, as 28x28, or auto", "SIZE"
        ),
        Option(
            "--neighbors",
            "for .html: put the nearest rows in the data into the page; a click on a point shows them",
            flag=True,
        ),
        Option("--dpi", "dots per inch of a .png, and of the raster for more than 100,000 points", "N", whole, 150),
    ],
)
