"""What the page offers: players, ratings, runs and files of games."""
