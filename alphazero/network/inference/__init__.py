"""The network as an evaluator of positions: by several libraries, on several devices."""
