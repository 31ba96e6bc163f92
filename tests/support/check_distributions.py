"""Build wheel and sdist, install each in an empty environment, and use it away from the checkout.

Not a pytest file: it takes minutes. `make wheel` runs it. With a folder as its argument it keeps the archives there.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

USE = """
import pathlib, sys
import cellgames
assert "torch" not in sys.modules, "import cellgames imported torch"
here = pathlib.Path(cellgames.__file__).resolve()
assert "site-packages" in here.parts, f"imported from {here}"
import torch
from cellgames.envs import torus_v0
from cellgames.envs.core import seeds
game = cellgames.make("torus-v0", size=3)
state = game.step(game.init(seeds(0, 4)), torch.arange(4))
assert state.turn.tolist() == [1] * 4
for id in cellgames.games():
    game = cellgames.make(id)
    assert game.text(game.init(seeds(0, 1)))
env = torus_v0.env(size=3)
env.reset(seed=1)
while env.agents:
    observation, _, over, cut, _ = env.last()
    env.step(None if over or cut else int(observation["action_mask"].argmax()))
from cellgames.envs.native.operators import compiler_found
from cellgames.envs.native import status
assert not status().problem or not compiler_found("cpu"), status()
print(cellgames.__version__, "works from", here.parent, "with", status())
"""


def run(*command: str | Path, cwd: Path | None = None) -> str:
    """Run a command, show it, stop with its output if it fails."""
    print("$", *command, flush=True)
    done = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{done.stdout}\n{done.stderr}\nfailed: {' '.join(map(str, command))}")
    return done.stdout


def expected() -> set[str]:
    """The files of the tree as a wheel holds them."""
    source = ROOT / "src"
    front = {file.relative_to(source).as_posix() for file in (source / "cellgames").rglob("*.py")}
    front |= {file.relative_to(source).as_posix() for file in (source / "cellgames/web/static").iterdir()}
    front |= {file.relative_to(source).as_posix() for file in (source / "cellgames/plugins").glob("*.toml")}
    rooms = {
        f"cellgames/{file.relative_to(ROOT).as_posix()}"
        for room in ROOT.iterdir()
        if (ROOT / "src" / "cellgames" / room.name).is_symlink()
        for file in room.rglob("*.py")
        if file.parent != ROOT / "lab" / "studies"  # scripts of a checkout
    }
    return front | rooms | {"cellgames/py.typed"}


def main() -> None:
    """Build and try both."""
    with tempfile.TemporaryDirectory(prefix="cellgames-dist-") as folder:
        place = Path(folder)
        run(sys.executable, "-m", "build", "--outdir", place / "dist", ROOT)  # the wheel is built from the sdist
        wheel, sdist = next(place.glob("dist/*.whl")), next(place.glob("dist/*.tar.gz"))
        with zipfile.ZipFile(wheel) as archive_file:
            missing = expected() - set(archive_file.namelist())
        if missing:
            sys.exit(f"missing in {wheel.name}: {', '.join(sorted(missing))}")
        for archive in (wheel, sdist):
            home = place / archive.suffix.strip(".")
            venv.create(home, with_pip=True)
            python = home / ("Scripts" if sys.platform == "win32" else "bin") / "python"
            run(python, "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", archive)
            print(run(python, "-c", USE, cwd=place), end="")
            print(run(python, "-m", "cellgames", "list", cwd=place), end="")
            run(
                python, "-m", "cellgames", "round-robin", "torus-v0", "--param", "size=3",
                "--agents", "random", "greedy", "--games", "4", "--out", place / f"games-{home.name}",
                cwd=place,
            )  # fmt: skip
        for kept in sys.argv[1:]:
            Path(kept).mkdir(parents=True, exist_ok=True)
            for archive in (wheel, sdist):
                shutil.copy(archive, kept)
    print("wheel and sdist work")


if __name__ == "__main__":
    main()
