"""The read model: events and readings in, the page's sections out. Knows no server."""
