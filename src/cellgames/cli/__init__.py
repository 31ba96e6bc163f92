"""The command line: one module a command, with the parser and the shared options beside them."""
