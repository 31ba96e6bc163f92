"""Messages about missing optional packages: their names, the parts left out, and how to install them."""

from __future__ import annotations


def install(extra: str) -> str:
    """Return the command that installs an extra, with the quotes that all shells understand."""
    return f'pip install "cellgames[{extra}]"'


def no_pictures(error: ImportError) -> str:
    """Return the line of a run that leaves out plots and pictures; the same line for each part that does.

    Args:
        error: error of the import. An installed package that cannot be imported is named.
    """
    missing = isinstance(error.__cause__ or error, ModuleNotFoundError)
    reason = "matplotlib or Pillow is missing" if missing else " ".join(str(error).split())
    return f"no plots and pictures, since {reason}: {install('render')}"
