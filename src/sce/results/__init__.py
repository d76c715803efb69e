"""Files of results: maps, sweeps and graphs, on one archive of plain arrays and a JSON header.

Reads and writes what others computed; computes nothing itself.
"""
