"""Reviews of played games: win chances, mistakes, better moves and accuracy."""
