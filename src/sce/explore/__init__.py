"""The explorer: see, question and name the clusters of a map in a browser.

Sessions, named clusters and their file, what the page asks for, and the routes by which it asks. Figures are computed in
:mod:`sce.quality` and :mod:`sce.clusters`, pages are served by :mod:`sce.web`.
"""
