/* Films: packed sequences of frames, the clock that they run by, and a player of them for a page with a board. */
(function () {
  "use strict";
  const Cellgames = window.Cellgames;
  const { element } = Cellgames;

  const SCREEN = 1000 / 60; // milliseconds of a picture of the screen
  const PACES = [2, 5, 15, 30, 60, 120, 240]; // generations a second
  const USUAL = 30; // where nothing else was chosen, for films that take longer than CALM_S seconds
  const CALM_S = 4;
  const FEW = 24; // generations of a film that a quick pace would hide

  const ICONS = {
    first: "M6 5h2v14H6zM20 5v14L9 12z",
    back: "M17 5v14L7 12z",
    play: "M7 4v16l13-8z",
    pause: "M6 4h4v16H6zM14 4h4v16h-4z",
    next: "M7 5v14l10-7z",
    last: "M16 5h2v14h-2zM4 5v14l11-7z",
  };

  Cellgames.icon = function (name) {
    const space = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(space, "svg");
    svg.setAttribute("viewBox", "0 0 24 24");
    svg.setAttribute("aria-hidden", "true");
    const path = document.createElementNS(space, "path");
    path.setAttribute("d", ICONS[name]);
    svg.append(path);
    return svg;
  };

  /** A button with an icon, as all players of films have it. */
  Cellgames.iconButton = function (name, label, act) {
    const made = element("button", { type: "button", class: "cg-button", "aria-label": label, title: label });
    made.append(Cellgames.icon(name));
    made.addEventListener("click", act);
    return made;
  };

  /** A button that shows another icon from now on. */
  Cellgames.relabel = function (button, name, label) {
    if (button.title === label) return;
    button.replaceChildren(Cellgames.icon(name));
    button.title = label;
    button.setAttribute("aria-label", label);
  };

  // ---------------------------------------------------------------- unpacking

  const opened = (text) => new Blob([Cellgames.bytes(text)]).stream().pipeThrough(new DecompressionStream("gzip"));

  /** The planes of all frames as what changes from one to the next: the whole of a long film would not fit in memory. */
  class Changes {
    constructor(size, count) {
      this.size = size;
      this.ends = new Uint32Array(count + 1); // by frame, where its changes end in the two lists
      this.where = new Uint32Array(1 << 16);
      this.what = new Uint8Array(1 << 16);
      this.now = new Uint8Array(size);
      this.at = -1; // the frame that `now` holds
    }

    async read(stream) {
      const reader = stream.getReader();
      let [place, frame, found] = [0, 0, 0]; // of the next byte, its frame, and the changes so far
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        for (let i = 0; i < value.length; i++) {
          if (value[i]) {
            if (found === this.what.length) this.grow();
            this.where[found] = place;
            this.what[found++] = value[i];
          }
          if (++place === this.size) {
            place = 0;
            this.ends[++frame] = found;
          }
        }
      }
      return this;
    }

    grow() {
      for (const name of ["where", "what"]) {
        const more = new this[name].constructor(2 * this[name].length);
        more.set(this[name]);
        this[name] = more;
      }
    }

    /** A copy of the planes of frame number `i`. */
    planes(i) {
      const { ends, where, what, now } = this;
      const [low, high] = this.at < i ? [ends[this.at + 1], ends[i + 1]] : [ends[i + 1], ends[this.at + 1]];
      for (let change = low; change < high; change++) now[where[change]] ^= what[change]; // either way is the same
      this.at = i;
      return now.slice();
    }
  }

  /** The frames of a packed sequence (frames.packed in Python): each holds what differs from the one before. */
  Cellgames.unpack = async function (packed) {
    const { cells, planes, count } = packed, size = cells * planes;
    const [changes, fields] = await Promise.all([
      size ? new Changes(size, count).read(opened(packed.data)) : null,
      new Response(opened(packed.fields)).json(),
    ]);
    if (!changes) return fields.map((frame) => ({ ...frame, cells: new Uint8Array(0), layers: {} }));
    let last = [-1, null];
    const decoded = (i) => {
      if (last[0] !== i) {
        const both = changes.planes(i);
        const marks = planes > 1 ? both.subarray(cells, 2 * cells) : new Uint8Array(cells);
        last = [i, { cells: both.subarray(0, cells), marks }];
      }
      return last[1];
    };
    fields.forEach((frame, i) => Object.defineProperty(frame, "planes", { get: () => decoded(i) }));
    return fields;
  };

  // ---------------------------------------------------------------- time

  /** Calls `next(pictures)` with each picture of the screen that has room for one; `pace()` is the milliseconds of one.

      Up to the rate of the screen no picture is left out, so that a slow computer shows them later, not fewer. */
  Cellgames.Clock = class {
    constructor(pace, next) {
      Object.assign(this, { pace, next, running: false, asked: 0 });
    }

    start() {
      if (this.running) return;
      this.running = true;
      this.spent = 0;
      this.last = performance.now();
      this.ask();
    }

    stop() {
      this.running = false;
      cancelAnimationFrame(this.asked);
    }

    ask() {
      this.asked = requestAnimationFrame((now) => {
        if (!this.running) return;
        const wait = this.pace();
        this.spent += Math.max(0, now - this.last);
        this.last = now;
        const most = wait > 0.9 * SCREEN ? 1 : Math.ceil(SCREEN / wait);
        const pictures = Math.min(most, Math.floor(this.spent / wait + 0.25));
        this.spent = Math.min(this.spent - pictures * wait, most * wait);
        if (pictures) this.next(pictures);
        if (this.running) this.ask();
      });
    }
  };

  // ---------------------------------------------------------------- the player

  const kept = () => {
    try {
      return Number(localStorage.getItem("cellgames.pace"));
    } catch {
      return 0;
    }
  };

  /** A film on a board of a page: play, pause, step, scrub, pace, and a button that leaves it. */
  Cellgames.Film = class {
    /**
     * @param place an element that gets the controls.
     * @param packed what frames.packed gives.
     * @param options `show(frame)` paints; `end()` is called once, when the film was left, or is over unless it `stays`;
     *   `leave`: the words of the button, `banner`: the element that gets it; `seconds`: the most that the film may take.
     */
    constructor(place, packed, options) {
      Object.assign(this, { place, options, at: -1, over: false, frames: [] });
      const calm = PACES.filter((pace) => pace <= USUAL && pace * CALM_S <= packed.count).at(-1) || PACES[0];
      const chosen = packed.count > FEW && PACES.includes(kept()) ? kept() : calm;
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
      const jump = (by) => () => { this.pause(); this.seek(this.at + by); };
      this.toggle = Cellgames.iconButton("pause", "Pause", () => (this.clock.running ? this.pause() : this.play()));
      this.toggle.classList.add("cg-main");
      this.range = element("input", { type: "range", class: "cg-range", min: 0, max: count - 1, step: 1, value: 0, "aria-label": "Generation" });
      this.range.addEventListener("input", () => { this.pause(); this.seek(Number(this.range.value)); });
      this.count = element("span", { class: "cg-count" });
      const pace = element("select", { class: "cg-speed", "aria-label": "Generations a second" });
      for (const value of PACES) pace.append(element("option", { value, selected: value === this.pace }, `${value} / s`));
      pace.addEventListener("change", () => {
        this.pace = Number(pace.value);
        try {
          localStorage.setItem("cellgames.pace", pace.value);
        } catch { /* a browser that keeps nothing */ }
      });
      this.exit = element("button", { type: "button" }, this.options.leave);
      this.exit.addEventListener("click", () => this.leave());
      const row = element("div", { class: "cg-buttons" },
        Cellgames.iconButton("back", "One generation back", jump(-1)), this.toggle,
        Cellgames.iconButton("next", "One generation on", jump(1)), this.count, pace);
      (this.options.banner || row).append(this.exit);
      this.root = element("div", { class: "cg-controls cg-film", role: "group", "aria-label": "Film" }, this.range, row);
      this.place.replaceChildren(this.root);
    }

    seek(i) {
      if (!this.frames.length) return;
      this.at = Math.min(this.frames.length - 1, Math.max(0, i));
      this.range.value = this.at;
      this.count.textContent = `${this.at} / ${this.frames.length - 1}`;
      this.options.show(this.frames[this.at]);
    }

    go(pictures) {
      this.seek(this.at + pictures);
      if (this.at < this.frames.length - 1) return;
      this.pause();
      if (!this.options.stays) this.leave();
    }

    play() {
      if (this.over || !this.frames.length) return;
      if (this.at === this.frames.length - 1) this.seek(0);
      Cellgames.relabel(this.toggle, "pause", "Pause");
      this.clock.start();
    }

    pause() {
      this.clock.stop();
      Cellgames.relabel(this.toggle, "play", "Play");
      if (this.frames.length && !this.over && this.at >= 0) this.options.show(this.frames[this.at]); // with all its numbers
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
