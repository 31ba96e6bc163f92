"""Random playouts, and agents that move by them."""
