// A game that agents play alone: it goes on at a chosen speed, pauses, and goes on by single moves. The server lets the
// agents think only as far as the page asks.
"use strict";
(() => {
  const app = Cellgames.app;
  const { el, api } = app;
  const SPEEDS = [0.5, 1, 2, 5, 10, 20]; // moves a second
  const USUAL = 2;
  const AHEAD_S = 0.2; // agents may be so far ahead of what is shown

  app.Bots = class {
    constructor(game) {
      this.game = game;
      this.playing = true;
      this.asking = false;
      this.toggle = Cellgames.iconButton("pause", "Pause", () => (this.playing ? this.pause() : this.play()));
      this.stepper = Cellgames.iconButton("next", "One move", () => this.step());
      this.speed = el("select", { "aria-label": "Speed", onchange: () => this.next() },
        SPEEDS.map((speed) => el("option", { value: speed, selected: speed === USUAL },
          speed === 1 ? "1 move a second" : `${speed} moves a second`)));
      this.root = el("p", { class: "buttons bots", role: "group", "aria-label": "Agents at play" }, this.toggle, this.stepper, this.speed);
    }

    // Milliseconds from one move to the next.
    get wait() { return 1000 / Number(this.speed.value); }

    play() {
      this.playing = true;
      Cellgames.relabel(this.toggle, "pause", "Pause");
      this.next();
    }

    pause() {
      clearTimeout(this.timer);
      this.playing = false;
      Cellgames.relabel(this.toggle, "play", "Play");
      if (this.game.view.thinking) api(`${this.game.path}/go`, { until: 0 }).catch(() => {});
    }

    step() {
      if (this.playing) this.pause();
      if (!this.game.view.thinking && !this.game.showing) this.go(1);
    }

    // All that the agents have played is on the board: ask for more when it is time.
    next() {
      clearTimeout(this.timer);
      const { view, closed, showing, error } = this.game;
      this.root.hidden = view.done;
      if (this.playing && !closed && !view.done && !view.thinking && !showing && !error) {
        this.timer = setTimeout(() => this.go(Math.max(1, Math.round(Number(this.speed.value) * AHEAD_S))), this.wait);
      }
    }

    async go(count) {
      const { game } = this, { view, seen, path } = game;
      if (this.asking || game.closed) return;
      this.asking = true;
      try {
        const answer = await api(`${path}/go`, { until: view.turn + count, epoch: view.epoch, since: seen });
        this.asking = false;
        game.take(answer.view);
      } catch (error) {
        this.asking = false;
        if (!game.closed) await game.refused(error);
      }
    }
  };
})();
