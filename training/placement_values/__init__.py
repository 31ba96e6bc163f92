"""Values of placements in the Toroidal Cup, learned from games that differ in one placement."""
