"""The server and the requests that it answers."""
