"""Folders that tests read: the repository, and data beside it that is no part of the project."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

CUP_DATA = ROOT.parent / "shared" / "data" / "toroidal_cup"
"""Published games by golly-splorts (MIT)."""
