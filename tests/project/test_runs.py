"""Runs of every kind of the core, by one suite: killed, damaged, grown, refused, and two processes at once."""

from __future__ import annotations

from run_suite import RunSuite


class TestRuns(RunSuite):
    KINDS = "run_kinds"
