"""AlphaGo Zero-style self-play training: from a game's rules to a strong player."""

__version__ = "0.1.0"
