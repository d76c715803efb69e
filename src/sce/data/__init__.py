"""Files to tables: formats, columns, labels, preparation that can be saved and applied again; data sets by name.

:func:`sce.data.reader.read` is the way in, :class:`sce.data.preparation.Preparation` comes next, and
:class:`sce.data.recipe.Recipe` remembers both. This package knows nothing about graphs, layouts or the command line: its
messages name parameters (``missing="median"``), which :mod:`sce.cli.spelling` translates into options.
"""
