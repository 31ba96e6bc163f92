"""Pictures, text and windows of PettingZoo's environments; windows need no display here."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from pettingzoo.test.render_test import render_test
from pettingzoo_play import aec, any_game, one_step, play_on, raw

import cellgames
from cellgames.envs import torus_v0
from cellgames.envs.adapters.window import Window
from cellgames.envs.core import Game
from cellgames.envs.core.drawing import to_svg
from cellgames.envs.core.raster import to_rgb


@pytest.fixture(autouse=True)
def _no_display(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    yield
    if sys.modules.get("pygame"):
        sys.modules["pygame"].display.quit()


@any_game
def test_pettingzoos_render_test_passes(game: Game) -> None:
    render_test(lambda render_mode: aec(game, render_mode))  # type: ignore[misc,arg-type]  # its type names no argument


@any_game
def test_pictures_and_text_are_those_of_the_core(game: Game) -> None:
    env = aec(game, "rgb_array")
    env.reset(seed=2)
    play_on(env, moves=one_step(game))
    state = env.unwrapped.core_state()
    assert np.array_equal(env.render(), to_rgb(game.draw(state)))
    assert env.unwrapped._repr_html_() == to_svg(game.draw(state))
    text = aec(game, "ansi")
    text.reset(seed=2)
    play_on(text, moves=one_step(game))
    assert text.render() == game.text(state)


def test_a_notebook_shows_the_wrapped_environment_as_svg() -> None:
    env: Any = torus_v0.env(size=3)
    assert env._repr_html_() is None
    env.reset(seed=1)
    assert env._repr_html_().startswith("<svg")


@any_game
def test_rendering_without_a_mode_warns_and_gives_nothing(game: Game) -> None:
    env = aec(game)
    env.reset(seed=2)
    with pytest.warns(UserWarning, match="without specifying any render mode"):
        assert env.render() is None


@any_game
def test_an_unknown_render_mode_is_refused(game: Game) -> None:
    with pytest.raises(ValueError, match="expected a render_mode of human, rgb_array, ansi, got 'svg'"):
        raw(game, "svg")


@any_game
def test_the_window_follows_reset_and_steps_until_it_is_closed(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    pygame = pytest.importorskip("pygame")
    shown: list[Any] = []
    show = Window.show

    def noting(self: Window, image: npt.NDArray[np.uint8], frames_per_second: float) -> bool:
        shown.append(image)
        return show(self, image, frames_per_second)

    monkeypatch.setattr(Window, "show", noting)
    env = aec(game, "human")
    assert not pygame.display.get_init()
    env.reset(seed=2)
    assert len(shown) == 1
    play_on(env, moves=one_step(game))
    assert len(shown) == 2
    assert env.render() is None
    assert len(shown) == 3
    screen = np.swapaxes(pygame.surfarray.array3d(pygame.display.get_surface()), 0, 1)
    assert np.array_equal(screen, shown[-1])
    twin = copy.deepcopy(env)
    play_on(twin)
    assert len(shown) == 3  # a copy that searches does not flicker in the window
    env.close()
    assert not pygame.display.get_init()
    env.close()
    env.reset(seed=3)
    assert len(shown) == 4
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    play_on(env, moves=one_step(game))
    assert not pygame.display.get_init()  # the person has closed it
    play_on(env)
    assert len(shown) == 5


@pytest.mark.parametrize("missing", ["pygame", "PIL"])
def test_human_mode_without_its_packages_says_what_to_install(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=r'needs pygame-ce and Pillow: pip install "cellgames\[human\]"'):
        torus_v0.env(render_mode="human")
    torus_v0.env(render_mode="rgb_array")
    torus_v0.env()


_PLAIN = """
import sys
from cellgames.envs import torus_v0
env = torus_v0.env(size=3, render_mode="ansi")
env.reset(seed=1)
env.step(0)
env.render()
env.close()
print({"pygame", "PIL", "matplotlib"} & set(sys.modules))
"""


@pytest.mark.slow
def test_nothing_graphical_is_imported_unless_asked() -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(cellgames.__file__).parents[1])}
    command = [sys.executable, "-c", _PLAIN]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.stdout == "set()\n", done.stderr


def test_repr_says_how_far_the_game_is_and_who_acts() -> None:
    env = torus_v0.raw_env(size=3)
    assert repr(env) == "AECGame(Torus(size=3), not yet reset)"
    env.reset(seed=1)
    env.step(0)
    assert repr(env) == "AECGame(Torus(size=3), 1 steps played, white to act)"
    while env.agents and not env.terminations[env.agent_selection]:
        env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
    assert repr(env).startswith("AECGame(Torus(size=3), over after ")
    together = raw(cellgames.make("toroidal-cup-small-v0"))
    together.reset(seed=1)
    assert repr(together.unwrapped).endswith("0 steps played)")
