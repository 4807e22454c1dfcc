"""Tree search: from states to move policies and values. Start with `network_search.py`."""
