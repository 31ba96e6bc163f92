/* A player of films for a page with a board; records have the viewer. */
(function () {
  "use strict";
  const Cellgames = window.Cellgames;
  const { element } = Cellgames;

  const PACES = [2, 5, 15, 30, 60, 120, 240]; // generations a second
  const USUAL = 30; // where nothing else was chosen, for films that take longer than CALM_S seconds
  const CALM_S = 4;
  const FEW = 24; // generations of a film that a quick pace would hide

  /** A film on a board of a page: play, pause, step, scrub, pace, and a button that leaves it. */
  Cellgames.Film = class extends Cellgames.Player {
    /**
     * @param place an element that gets the controls.
     * @param packed what frames.packed gives.
     * @param options `show(frame, whole)` paints, with all that is said of the frame if it is `whole`; `end()` is called once,
       when the film was left, or is over unless it `stays`;
     *   `leave`: the words of the button, `banner`: the element that gets it; `seconds`: the most that the film may take.
     */
    constructor(place, packed, options) {
      super();
      Object.assign(this, { place, options, at: -1, over: false, frames: [] });
      const calm = PACES.filter((pace) => pace <= USUAL && pace * CALM_S <= packed.count).at(-1) || PACES[0];
      const kept = Cellgames.kept("cellgames.pace"), chosen = packed.count > FEW && PACES.includes(kept) ? kept : calm;
      this.pace = Math.max(chosen, options.seconds ? PACES.find((pace) => pace * options.seconds >= packed.count) || PACES.at(-1) : 0);
      this.clock = new Cellgames.Clock(() => 1000 / this.pace, (pictures) => this.go(pictures));
      this.build(packed.count);
      this.ready = Cellgames.unpack(packed).then((frames) => {
        if (this.over) return;
        this.frames = frames;
        this.seek(0);
        this.play();
      }, () => this.leave()); // a browser too old to unpack shows the end
    }

    build(count) {
      const pace = element("select", { class: "cg-speed", "aria-label": "Generations a second", onchange: () => {
        this.pace = Number(pace.value);
        Cellgames.keep("cellgames.pace", this.pace);
      } }, PACES.map((value) => element("option", { value, selected: value === this.pace }, `${value} / s`)));
      this.root = this.controls(count, ["Film", "Generation", "One generation back", "One generation on"], pace);
      this.root.classList.add("cg-film");
      this.exit = element("button", { type: "button", onclick: () => this.leave() }, this.options.leave);
      (this.options.banner || this.row).append(this.exit);
      this.place.replaceChildren(this.root);
    }

    seek(i) {
      if (!this.frames.length) return;
      this.at = Math.min(this.frames.length - 1, Math.max(0, i));
      this.show();
    }

    show() {
      const whole = this.clock.tells();
      if (whole) {
        this.range.value = this.at;
        this.count.textContent = `${this.at} / ${this.frames.length - 1}`;
      }
      this.options.show(this.frames[this.at], whole);
    }

    go(pictures) {
      this.seek(this.at + pictures);
      if (this.at < this.frames.length - 1) return;
      this.pause();
      if (!this.options.stays) this.leave();
    }

    play() { if (!this.over && this.frames.length) super.play(); }

    pause() {
      this.clock.stop();
      Cellgames.relabel(this.toggle, "play", "Play");
      if (this.frames.length && !this.over && this.at >= 0) this.show(); // with all its numbers
    }

    /** Whether a key meant something. */
    key(key) {
      if (key === " ") this.toggle.click();
      else if (key === "ArrowLeft" || key === "ArrowRight") {
        this.pause();
        this.seek(this.at + (key === "ArrowLeft" ? -1 : 1));
      } else return false;
      return true;
    }

    leave() {
      if (this.over) return;
      this.destroy();
      this.options.end();
    }

    destroy() {
      this.over = true;
      this.clock.stop();
      this.root.remove();
      this.exit.remove();
    }
  };
})();
