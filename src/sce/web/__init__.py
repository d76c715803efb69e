"""What pages in a browser share: a binary container for arrays, safety, static files, serving. Knows nothing of maps."""
