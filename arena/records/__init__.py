"""Records of games, their replays and the positions in them."""
