"""General tools, no embeddings: compiled kernels, vector code, threads, random numbers, linear algebra, memory, files.

Imports nothing from sce but :mod:`sce.errors`.
"""
