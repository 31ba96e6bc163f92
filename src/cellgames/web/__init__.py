"""The page: positions and games as data, a viewer of records, HTML files that play offline, and a server."""
