"""The base of compiled code: the compiler, checked parameters and lookup tables."""
