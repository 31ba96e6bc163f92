"""Matches, round robins and free-for-all games, in folders from which a killed run can be continued."""
