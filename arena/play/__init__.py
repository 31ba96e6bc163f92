"""Matches, round robins and free-for-all games, in folders that a killed run leaves ready to be continued."""
