"""A web page that plays a game in the browser alone; `files/` holds its sources."""
