"""A comparison of the package with hand-written C++: `python -m benchmarks.limit`.

The programs in `sources/` do the work of the package's hot paths with nothing around it. They are measuring sticks,
never shipped, and never called by the package.
"""
