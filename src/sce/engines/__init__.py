"""Where the sampler's laps run: the threads of this machine; later the workers of a cluster, or a GPU.

An engine implements the protocol of :mod:`sce.layout.engine`. It knows how laps are computed, and nothing about rules, stages
or users.
"""
