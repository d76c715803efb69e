"""What the explorer and the study share: arrays in binary, the guard of a local server, static files, worker processes.

Knows nothing of maps, and imports nothing from sce but :mod:`sce.errors` and :mod:`sce.core`. Only :mod:`sce.web.serving` needs
uvicorn, which is in ``sce[web]``; pages in one file are made with the base install.
"""
