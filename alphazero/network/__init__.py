"""The network f(s) = (p, v): the model, its evaluators and its checkpoint files."""
