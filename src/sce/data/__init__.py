"""Files to tables: formats, columns, labels, preparation that can be saved and applied again; data sets by name.

Knows nothing of graphs, layouts or the command line; messages name parameters, not options.
"""
