"""Tutorials: notebooks that are written as Markdown; `python tests/support/tutorials.py` runs them anew.

`docs/tutorials/NAME.md` is the source, in Jupytext's format. `NAME.ipynb` beside it is the same notebook with its
outputs, for Jupyter and for the site.
"""

from __future__ import annotations

import argparse
import base64
import os
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from paths import ROOT

FOLDER = ROOT / "docs" / "tutorials"

TUTORIALS = tuple(sorted(path.stem for path in FOLDER.glob("*.md") if path.stem != "index"))
"""Names of the tutorials, which begin with their numbers."""

# A command that fails ends the notebook; plots are small enough to be kept.
_PRELUDE = """
import subprocess
def _system(command):
    shell = ["bash", "-o", "pipefail", "-c", command]
    done = subprocess.run(shell, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    print(done.stdout, end="")
    if done.returncode:
        raise RuntimeError(f"{command} ended with status {done.returncode}")
get_ipython().system = _system
size = "{'dpi': 80, 'bbox_inches': 'tight'}"
get_ipython().run_line_magic("config", f"InlineBackend.print_figure_kwargs = {size}")
"""


def read_source(name: str) -> Any:
    """Return the notebook that a tutorial's Markdown describes, without outputs."""
    import jupytext

    notebook = jupytext.read(FOLDER / f"{name}.md", fmt="md")
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook.metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
        cell.metadata = {}
    return notebook


def stored(name: str) -> Any:
    """Return the notebook with the outputs that are in the repository."""
    import nbformat

    return nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)  # type: ignore[no-untyped-call]


def execute(name: str) -> Any:
    """Run a tutorial in an empty folder, in a kernel of its own, and return the notebook with its outputs.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell raised an error, or a command of it failed.
    """
    import nbformat
    from nbclient import NotebookClient

    notebook = read_source(name)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(_PRELUDE))  # type: ignore[no-untyped-call]
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}})
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        client.execute(env={**os.environ, "COLUMNS": "100", "PATH": path, "CELLGAMES_STORE": f"{folder}/store.sqlite"})
    del notebook.cells[0]
    count = 0
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            count += 1
            cell.execution_count = count
            cell.outputs = [_output(output, folder) for output in cell.outputs if output.get("name") != "stderr"]
    return notebook


def _output(output: Any, folder: str) -> Any:
    """Return an output in one format, without what differs from run to run."""
    import nbformat

    if output.output_type == "stream":
        output.text = output.text.replace(folder, "").rstrip("\n")
        return output
    data = output.data
    if re.match(r"\s*<svg", data.get("text/html", "")):
        data["image/svg+xml"] = data.pop("text/html")
    for kind in ("image/svg+xml", "image/gif", "image/png", "text/markdown", "text/plain"):
        if kind in data:
            return nbformat.v4.new_output("display_data", {kind: data[kind]})  # type: ignore[no-untyped-call]
    raise ValueError(f"expected a picture, Markdown or plain text, got {', '.join(data)}")


def _with_old_outputs(name: str) -> Any:
    """Return the notebook with the outputs that are in the repository, if all of its code is the same."""
    notebook = read_source(name)
    code, kept = (
        [cell for cell in cells if cell.cell_type == "code"] for cells in (notebook.cells, stored(name).cells)
    )
    if [cell.source for cell in code] != [cell.source for cell in kept]:
        raise SystemExit(f"{name}: its code has changed; run it without --text")
    for cell, old in zip(code, kept, strict=True):
        cell.execution_count, cell.outputs = old.execution_count, old.outputs
    return notebook


def _write_cover(name: str, notebook: Any) -> None:
    """Write the last picture of a notebook for the overview of all tutorials."""
    outputs = (output for cell in notebook.cells for output in cell.get("outputs", ()))
    pictures = [(kind, text) for output in outputs for kind, text in output.get("data", {}).items() if "image/" in kind]
    kind, text = pictures[-1]
    content = text.encode() if "svg" in kind else base64.b64decode(text)
    suffix = kind.removeprefix("image/").partition("+")[0]
    (ROOT / "docs" / "images" / f"tutorial_{name}.{suffix}").write_bytes(content)


def main() -> None:
    """Run the named tutorials, or all of them, and keep their outputs."""
    import nbformat

    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", default=TUTORIALS)
    parser.add_argument("--text", action="store_true", help="take over changes of the text only; nothing is run")
    options = parser.parse_args()
    for name in options.names:
        begin = time.perf_counter()
        notebook = _with_old_outputs(name) if options.text else execute(name)
        path = FOLDER / f"{name}.ipynb"
        nbformat.write(notebook, path)  # type: ignore[no-untyped-call]
        _write_cover(name, notebook)
        print(f"{name}: {time.perf_counter() - begin:.0f} s, {path.stat().st_size / 1024:.0f} KB", flush=True)


if __name__ == "__main__":
    main()
