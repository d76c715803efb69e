"""The commands of `sce`, one module each with a function `run`, listed in :mod:`sce.cli.catalog`."""
