"""TD(lambda) on positions after whole turns of Cloth of Gold."""
