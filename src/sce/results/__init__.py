"""Result files: maps, sweeps and graphs, as archives of plain arrays and a JSON header.

This package reads and writes what others computed. Nothing is computed here, and nothing here knows the estimator.
"""
