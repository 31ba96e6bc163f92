"""`python -m cellgames` is the command `cellgames`."""

import sys

from cellgames.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
