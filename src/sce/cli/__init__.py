"""The command line: options in, library calls, text out. Nothing else imports it, and no computation lives here.

A new command is a module in `commands/` and an entry in `catalog.py`; :mod:`sce.cli.spelling` turns the parameters that
messages of the library name into options.
"""
