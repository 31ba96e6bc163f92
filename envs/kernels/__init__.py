"""What compiled code stands on: the compiler, checked parameters and lookup tables."""
