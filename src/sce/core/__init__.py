"""What knows nothing of embeddings: compiled kernels, vector code, threads, random numbers, linear algebra, memory, files.

Imports nothing of sce but :mod:`sce.errors`.
"""
