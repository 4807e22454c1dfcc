"""The web page: a server for people who play, watch and look, each in a browser of their own."""
