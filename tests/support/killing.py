"""The signal that ends a process at once, on every system."""

from __future__ import annotations

import os

KILL = 9
"""For `os.kill`: SIGKILL; on Windows, which has none, TerminateProcess with this exit code."""

KILLED = -KILL if os.name == "posix" else KILL
"""The exit code of a process that `KILL` has ended, as `subprocess` tells it."""
