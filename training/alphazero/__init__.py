"""AlphaZero with Gumbel search."""
