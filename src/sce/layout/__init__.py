"""From the similarity graph to the map: P -> Y."""
