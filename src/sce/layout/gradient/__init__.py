"""The full gradient: attraction over the edges, repulsion of all pairs on a grid, L-BFGS, continuation over r."""
