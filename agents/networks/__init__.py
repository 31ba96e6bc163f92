"""Networks that play, their files and the agents that ask them."""
