"""The page: positions and games as data, a viewer that plays records, files that play offline, a server."""
