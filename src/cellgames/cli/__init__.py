"""The command line: the program, one module a command in `commands`, and the options that commands share."""
