"""A run of training: `train` makes a learner, lets it learn, evaluates it, and keeps all of it in a folder.

    arguments.json     the arguments of the run
    checkpoint.pt      the state from which a stopped run continues
    agent.safetensors  the network at that checkpoint, as `agents.load` reads it
    pool/              snapshots
    progress.csv       a row for each evaluation
    timing.csv         the seconds until each of them; all other files are the same for equal runs
    curve.png          strength over steps
    failure.log        where the program of an opponent failed, until the run is continued
    tensorboard/       events of each iteration, with the time of day and the name of the machine

At every checkpoint all games start over, from a seed that follows from the run's seed and the iteration. So a run that
is killed and continued learns the same as a run that is not killed. The checkpoint of a run that is interrupted has the
games in progress, so that it also goes on as if it had not been stopped.
"""

from __future__ import annotations

import dataclasses
import logging
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from signal import SIGINT
from typing import Any, NoReturn

import torch

from cellgames.agents.base import AnyAgent
from cellgames.agents.loading import load
from cellgames.agents.networks.saved import check_installed, read_about
from cellgames.agents.selection import AgentError
from cellgames.envs import registry
from cellgames.envs.core import Game
from cellgames.envs.registry import board_title
from cellgames.runs.run_folder import START_OVER, RunError
from cellgames.training.arguments import ALGORITHMS, Arguments
from cellgames.training.machine import choose_device, describe_machine, isolated
from cellgames.training.selfplay.eval_opponents import compare
from cellgames.training.selfplay.learner import Iteration, Learner, Purpose, derive
from cellgames.utils.errors import InputError
from cellgames.utils.files import write_atomic

from .checkpoints import AGENT, CHECKPOINT, FAILURE, Checkpoint, Interruption, check, prepare, restore, run_of
from .interrupts import Interrupts, Stopped
from .logs import RUN_METRICS, TIMING_METRICS, Logs, eval_metrics

_LOGGER = logging.getLogger("cellgames.training")  # `--debug` shows it


@dataclass(frozen=True)
class Progress:
    """The progress of a run.

    Attributes:
        steps: actions learned from.
        total: steps that were asked for.
        games: games that ended.
        steps_per_second: speed in the last iteration; NaN before the first.
        shares: against each evaluation opponent at the last evaluation.
        history: the table so far, a row for each evaluation.
        seconds: time of playing and learning, over all parts of a continued run.
        saved: steps at the last checkpoint.
    """

    steps: int
    total: int
    games: int
    steps_per_second: float
    shares: Mapping[str, float]
    history: Sequence[Mapping[str, float]] = ()
    seconds: float = 0.0
    saved: int = 0


@dataclass(frozen=True)
class Finished:
    """A finished run.

    Attributes:
        out: its folder.
        agent: the file of the trained agent.
        steps: actions learned from.
        before: steps that were finished before this call.
        seconds: time of playing and learning.
        history: the table, a row for each evaluation.
    """

    out: Path
    agent: Path
    steps: int
    before: int
    seconds: float
    history: tuple[Mapping[str, float], ...]


def train(
    arguments: Arguments,
    out: str | os.PathLike[str],
    *,
    resume: bool = True,
    exact: bool = False,
    command: str = "",
    report: Callable[[Progress], None] = lambda progress: None,
    warn: Callable[[str], None] = lambda message: None,
) -> Finished:
    """Train until the learner has learned from the number of steps in the arguments.

    Args:
        arguments: by `PPOArguments.fitted(game, ...)` or another algorithm's.
        out: the folder; made if it is missing. A folder with this run, or with a shorter one, is continued.
        resume: False deletes the run in the folder first.
        exact: True to keep no checkpoint from which the run would end differently: where games in progress cannot be
            saved, a signal leaves the checkpoint before it.
        command: the command line, for the file of the agent.
        report: called before the first iteration and after each.
        warn: gets a line for each part that is left out, and if a continued run is not exact.

    Raises:
        RunError: the folder has something else, or a run with other arguments or of an older format; nothing was
            learned between two checkpoints; or an opponent's program failed.
        ValueError: arguments that do not fit the game.
        ImportError: a package that the run needs is missing.
        Stopped: Ctrl-C or SIGTERM, once a checkpoint of all finished iterations is written.
        KeyboardInterrupt: the same signal a second time, or before the first iteration.
    """
    check_installed()
    folder = Path(out).absolute()
    game = registry.make(arguments.game, **arguments.parameters)
    device = choose_device(arguments.device)
    with ExitStack() as ends:
        ends.enter_context(isolated(derive(arguments.seed, Purpose.NETWORK), arguments.threads, device))
        # The learner is made before the folder, so that errors leave no folder. A continued run has weights of its own.
        goes_on = resume and (folder / CHECKPOINT).exists()
        made = dataclasses.replace(arguments, start_from="") if goes_on else arguments
        learner = ALGORITHMS[arguments.algorithm].learner(game, made, folder, device)
        ends.enter_context(learner.ends)
        eval_opponents = _load_eval_opponents(game, arguments, learner)
        place = run_of(folder, arguments)
        check(place, arguments, resume=resume)
        _check_games_end(game, arguments, learner, warn)
        ends.enter_context(place)
        prepare(place, arguments, resume=resume)
        with _logging_failures(Path(out)):
            run = _Run(game, arguments, folder, learner, eval_opponents, device, command, warn, exact)
            ends.enter_context(run.interrupts)
            run.begin()
            ends.callback(run.logs.close)
            return run.to_the_end(report, Path(out))


@contextmanager
def _logging_failures(out: Path) -> Iterator[None]:
    """Turn the error of an opponent that fails into a `RunError`, and keep the opponent's traceback in the folder."""
    try:
        yield
    except AgentError as error:
        _LOGGER.debug("training ended at an error of %s\n%s", error.agent, error.trace)
        write_atomic(out / FAILURE, f"{error.agent}\n{error.trace}\n")
        cause = f"it failed: {error.reason}; {out / FAILURE} has the line. Mend it, and the same command continues"
        raise RunError(f"opponent {error.agent}", cause=cause) from error


def _load_eval_opponents(game: Game, arguments: Arguments, learner: Learner) -> dict[str, AnyAgent]:
    """Return the evaluation opponents by name, which must not be that of another column of the table."""
    taken = {*RUN_METRICS, *learner.METRICS}
    if wrong := [name for name in arguments.eval_agents if name in taken]:
        raise InputError("eval_opponents", "names that are no columns of progress.csv", wrong[0])
    return {name: load(spec, game, name=name) for name, spec in arguments.eval_agents.items()}


@dataclass
class _Run:
    """A run in progress."""

    game: Game
    arguments: Arguments
    folder: Path
    learner: Learner
    eval_opponents: Mapping[str, AnyAgent]
    device: torch.device
    command: str
    warn: Callable[[str], None]
    exact: bool

    def __post_init__(self) -> None:
        self.interrupts = Interrupts(self._announce)

    def begin(self) -> None:
        """Restore the run from its checkpoint, or measure the learner before it learns, and write the first one."""
        arguments, warn = self.arguments, self.warn
        restored = restore(self.folder, arguments, self.device, self.learner)
        self.at, self.interruption = restored or (Checkpoint(planned=arguments.total_steps), None)
        if self.at.planned != arguments.total_steps:
            warn(
                f"total_steps grow from {self.at.planned} to {arguments.total_steps}, and the learning rate falls "
                "more slowly from here on; a run that had been given as many from the start would differ"
            )
        title = f"{arguments.algorithm} in {board_title(self.game)}, seed {arguments.seed}"
        steps = self.at.steps if restored else None
        self.logs = Logs(self.folder, title, list(self.eval_opponents), arguments.eval_games, steps, warn)
        self.at.planned, self.saved = arguments.total_steps, self.at.steps
        self.kept = self.at.iteration  # at the last checkpoint
        if restored is None:
            self.learner.snapshot(0)
            if not self._evaluate():
                raise KeyboardInterrupt
            self._save()
        else:
            self.logs.table(self.at.history)
            self._mend_agent()
        if self.interruption is not None:
            self.saved = self.interruption.saved
        if self.interruption is None or not self.interruption.games:
            self._begin_games()

    def to_the_end(self, report: Callable[[Progress], None], out: Path) -> Finished:
        """Run all missing iterations."""
        arguments, at, before = self.arguments, self.at, self.at.steps
        report(self._progress(math.nan))
        if self.interruption is not None and self.interruption.iteration is not None:
            self._conclude(self.interruption.iteration)
        while True:
            if self.interrupts.received:  # in the last iteration, too: more may follow this training
                self._stop()
            if at.steps >= arguments.total_steps:
                return Finished(out, out / AGENT, at.steps, before, self.logs.seconds, tuple(at.history))
            began = time.perf_counter()
            iteration = self.learner.iterate(at.steps / arguments.total_steps)
            took = time.perf_counter() - began
            at.iteration, at.steps, at.games = at.iteration + 1, at.steps + iteration.steps, at.games + iteration.games
            self.logs.seconds += took
            self._log(iteration, took)
            if at.iteration % arguments.snapshot_every == 0:
                self.learner.snapshot(at.steps)
            self._conclude(iteration)
            report(self._progress(iteration.steps / took))

    def _conclude(self, iteration: Iteration) -> None:
        """Do what is due after an iteration: evaluate the learner, and write a checkpoint."""
        arguments, at = self.arguments, self.at
        last = at.steps >= arguments.total_steps
        if (last or at.iteration % arguments.eval_every == 0) and not self._evaluate(iteration):
            self._stop(iteration)
        if last or at.iteration % arguments.checkpoint_every == 0:
            if at.steps == self.saved:  # that may never change
                got = f"{arguments.checkpoint_every} and num_steps={arguments.num_steps}"
                cause = f"games start over before what follows an action is known; raise them, and {START_OVER}"
                raise RunError("checkpoint_every", "iterations in which something is learned", got, cause)
            self._save()
            self._begin_games()
            self.saved = at.steps

    def _announce(self, signal: int) -> None:
        """Say after the first signal what happens next."""
        self.warn(
            "stopping: the iteration under way is finished first, so that all steps are kept (a second Ctrl-C stops at "
            "once and keeps the last checkpoint)"
        )

    def _stop(self, iteration: Iteration | None = None) -> NoReturn:
        """Write a checkpoint of all steps and end the run; it later makes up for an evaluation that is left out."""
        exact, steps = True, self.at.steps
        if iteration is not None or self.kept != self.at.iteration:
            games = self.learner.games_state()
            exact = games is not None
            if exact or not self.exact:
                self._save(Interruption(self.saved, exact, iteration), games)
            else:
                exact, steps = True, self.saved
        raise Stopped(steps, exact=exact, signal=self.interrupts.received or SIGINT)

    def _progress(self, steps_per_second: float) -> Progress:
        at, seconds = self.at, self.logs.seconds
        shares = {spec: at.history[-1][spec] for spec in self.eval_opponents}
        return Progress(
            at.steps, self.arguments.total_steps, at.games, steps_per_second, shares, at.history, seconds, self.saved
        )

    def _begin_games(self) -> None:
        self.learner.restart(derive(self.arguments.seed, Purpose.GAMES, self.at.iteration))

    def _counters(self, iteration: Iteration | None) -> dict[str, float]:
        """Return the values of `logs.RUN_METRICS`."""
        at, length = self.at, math.nan
        if iteration is not None and iteration.games:
            length = iteration.turns / iteration.games
        return dict(zip(RUN_METRICS, (at.iteration, at.steps, at.games, length), strict=True))

    def _log(self, iteration: Iteration, took: float) -> None:
        timing = dict(zip(TIMING_METRICS, (self.logs.seconds, iteration.steps / took), strict=True))
        self.logs.scalars("run", {**self._counters(iteration), **timing}, self.at.steps)
        self.logs.scalars("learning", iteration.metrics, self.at.steps)

    def _evaluate(self, iteration: Iteration | None = None) -> bool:
        """Add a row of the learner's evaluation to the table; False if a signal came first, and nothing was added."""
        measured = self.interrupts.unless_interrupted(self._measure)
        if measured is None:
            return False
        at, names = self.at, self.learner.METRICS
        learned = {name: math.nan if iteration is None else iteration.metrics[name] for name in names}
        at.history.append({**self._counters(iteration), **measured, **learned})
        self.logs.table(at.history)
        self.logs.times(at.iteration, at.steps)
        self.logs.scalars("against", measured, at.steps)
        return True

    def _measure(self) -> dict[str, float]:
        """Return the results against each evaluation opponent."""
        arguments, found, learner = self.arguments, dict[str, float](), self.learner.agent()
        root = derive(arguments.seed, Purpose.EVALUATION, self.at.iteration)
        for number, (spec, agent) in enumerate(self.eval_opponents.items()):
            seed = derive(root, Purpose.EVALUATION, number)
            result = compare(self.game, learner, agent, arguments.eval_games, seed, self.device)
            found |= dict(zip(eval_metrics(spec), dataclasses.asdict(result).values(), strict=True))
        return found

    def _save(self, interruption: Interruption | None = None, games: Mapping[str, Any] | None = None) -> None:
        """Write the agent and the plot, then the checkpoint, so that a checkpoint never lacks its agent."""
        at = self.at
        self.kept = at.iteration
        self._save_agent()
        self.logs.plot(at.history, last=interruption is not None or at.steps >= self.arguments.total_steps)
        self.logs.flush()
        self.logs.times(at.iteration, at.steps)  # before the checkpoint, which does not go without
        at.write(self.folder, self.arguments, self.learner, interruption, games)
        self.learner.pool.prune()

    def _mend_agent(self) -> None:
        """Write the agent of the last checkpoint anew if its file is missing or damaged."""
        try:
            read_about(self.folder / AGENT)
        except ValueError as error:
            self.warn(f"{error}; it is written again from the checkpoint")
            self._save_agent()

    def _save_agent(self) -> None:
        at, arguments = self.at, self.arguments
        made = {"command": self.command, "algorithm": arguments.algorithm, "seed": arguments.seed}
        made |= {"steps": at.steps, "games": at.games, "machine": describe_machine(self.device)}
        self.learner.save(self.folder / AGENT, made)


def _check_games_end(game: Game, arguments: Arguments, learner: Learner, warn: Callable[[str], None]) -> None:
    """Warn if games start over, at checkpoints, before they can end."""
    steps, longest = arguments.num_steps * arguments.checkpoint_every, learner.longest(game)
    if steps < longest:
        warn(
            f"games start over at each checkpoint, after num_steps x checkpoint_every = {steps} steps, but one of "
            f"{game.id} may take {longest}, so that late positions may never be seen; a checkpoint_every of "
            f"{math.ceil(longest / arguments.num_steps)} is enough"
        )
