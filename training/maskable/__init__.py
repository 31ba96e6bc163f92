"""MaskablePPO of sb3-contrib by self-play."""
