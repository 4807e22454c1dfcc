"""The training loop: self-play, replay, learning, gate. Start with `loop.py`."""
