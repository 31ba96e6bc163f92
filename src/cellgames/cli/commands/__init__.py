"""The commands of `cellgames`: each module adds its command to the parser and runs it."""
