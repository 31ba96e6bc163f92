// The pictures of what happened in a game: steps one after another, and films of Life.
"use strict";
(() => {
  const app = Cellgames.app;
  const { api } = app;
  const CALM = window.matchMedia("(prefers-reduced-motion: reduce)");

  app.GameFilms = class {
    play() {
      if (this.timer || this.film) return;
      if (CALM.matches) {
        this.watched = this.queue.findLast((step) => !Array.isArray(step)) || this.watched;
        this.queue = [];
      }
      const next = () => {
        this.timer = null;
        if (this.closed) return;
        const step = this.queue.shift();
        if (step && !Array.isArray(step)) { this.run(step, next); return; }
        if (step) this.frame = step[0];
        if (this.queue.length === 0) { this.settle(); return; }
        this.draw();
        this.timer = setTimeout(next, step[1]);
      };
      next();
    }

    // Show a film, and then go on.
    run(packed, next, options = { leave: "Skip the animation" }) {
      this.watched = packed;
      this.status.setAttribute("aria-live", "off"); // every generation has words
      this.film = new Cellgames.Film(this.films, packed, {
        seconds: this.view.clocks ? 5 : 0,
        ...options,
        show: (frame, whole) => {
          this.frame = frame;
          if (whole) this.draw();
          else if (!this.view.curtain) this.board.draw(frame, {});
        },
        end: () => {
          this.film = null;
          this.status.setAttribute("aria-live", "polite");
          next();
        },
      });
      this.draw();
    }

    // Show a film beside the game, which waits.
    aside(packed, trial = false) {
      const { view, watched } = this;
      this.run(packed, () => {
        this.mark(false);
        if (trial) this.watched = watched;
        if (this.queue.length) this.play();
        else if (this.view !== view) this.settle();
        else {
          this.frame = view.frame;
          this.draw();
        }
      }, { leave: "Back to the game", stays: true, seconds: 0, banner: trial && this.banner });
      this.mark(trial);
    }

    // Mark the board as that of a trial run, or no longer.
    mark(trial) {
      this.banner.hidden = !trial;
      this.root.classList.toggle("tried", trial);
    }

    // Show the last film once more.
    watch() { if (!this.showing && this.watched) this.aside(this.watched); }

    // Let Life run from here, with what is to be placed now, as if nobody placed anything more.
    async tryOut() {
      if (!this.free()) return;
      this.busy = true;
      this.draw();
      const { turn, epoch } = this.view;
      try {
        const { film } = await api(`${this.path}/trial`, { action: this.controls.planned(), turn, epoch });
        this.busy = false;
        if (this.view.turn === turn && this.view.epoch === epoch && !this.closed) this.aside(film, true);
      } catch (error) {
        this.busy = false;
        app.notice(error.message);
      }
      this.draw();
    }

    // Show no more pictures.
    stop() {
      clearTimeout(this.timer);
      this.timer = null;
      this.queue = [];
      if (this.film) this.film.destroy();
      this.film = null;
      this.mark(false);
      this.status.setAttribute("aria-live", "polite");
    }

    skip() {
      if (this.film && this.film.options.stays) {
        this.film.leave();
        return;
      }
      this.stop();
      this.settle();
    }
  };
})();
