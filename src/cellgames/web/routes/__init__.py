"""The requests that the server answers."""
