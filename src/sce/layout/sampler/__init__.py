"""The paper's stochastic gradient, block by block: blocks and their order, the kernel, the epochs."""
