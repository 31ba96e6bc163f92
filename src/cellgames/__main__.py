"""`python -m cellgames` is the command `cellgames`."""

import sys


def main() -> int:
    """Run the command line of this process and return the exit code; Ctrl-C stops it from the first import on."""
    try:
        from cellgames.cli.main import main as run

        return run()
    except KeyboardInterrupt:
        print("\nStopped.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
