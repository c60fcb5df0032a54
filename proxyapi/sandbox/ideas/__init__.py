"""Ideas: found for a keyword on a network, ranked, the same whenever they are asked for."""
