"""The 16 patterns of the Toroidal Cup and the stamps that they are made of."""
