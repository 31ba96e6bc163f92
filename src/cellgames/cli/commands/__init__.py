"""The commands of `cellgames`: each module adds its command to the parser and runs it.

What needs torch or FastAPI is imported by the function that uses it, so that help answers at once.
"""
