"""The web front end: a server for many users, each with a browser."""
