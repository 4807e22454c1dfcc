"""Floor 2: the network f(s) = (p, v), as an evaluator and as a file."""
