"""Floor 4: play, remember, learn, gate; `loop.py` is the way in."""
