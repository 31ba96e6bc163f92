"""`cellgames doctor` tells what is installed and what is missing."""

from __future__ import annotations

from importlib import metadata

import pytest
from command import Command

from cellgames.cli.commands import doctor_command
from cellgames.utils.version import __version__


def test_it_prints_versions_and_extras(command: Command) -> None:
    said = command("doctor")
    for word in ("cellgames", __version__, "torch", "native kernels", "C++ compiler", "CUDA", "Extras", "render"):
        assert word in said
    assert "dev " not in said


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    version = metadata.version

    def without_pillow(name: str) -> str:
        if name == "pillow":
            raise metadata.PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(metadata, "version", without_pillow)
    assert doctor_command.missing_packages()["render"] == ["pillow"]
    said = command("doctor")
    assert "lacks pillow" in said
    assert 'To install one: pip install "cellgames[' in said
