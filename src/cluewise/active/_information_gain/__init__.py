"""InformationGain: rows between two clusters, in rounds, and the clustering that each round begins with."""
