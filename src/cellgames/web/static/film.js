/* Films: packed sequences of frames, the clock that they run by, and the buttons of players. */
(function () {
  "use strict";
  const Cellgames = window.Cellgames;
  const { element } = Cellgames;

  const SCREEN = 1000 / 60; // milliseconds of a picture of the screen
  const WORDS = 100; // milliseconds that words and numbers stay while pictures run; nobody reads them sixty times a second

  const ICONS = {
    first: "M6 5h2v14H6zM20 5v14L9 12z",
    back: "M17 5v14L7 12z",
    play: "M7 4v16l13-8z",
    pause: "M6 4h4v16H6zM14 4h4v16h-4z",
    next: "M7 5v14l10-7z",
    last: "M16 5h2v14h-2zM4 5v14l11-7z",
  };

  Cellgames.icon = (name) => Cellgames.svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" },
    Cellgames.svg("path", { d: ICONS[name] }));

  /** A button with an icon, as all players of films have it. */
  Cellgames.iconButton = (name, label, act) =>
    element("button", { type: "button", class: "cg-button", "aria-label": label, title: label, onclick: act }, Cellgames.icon(name));

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
      this.told = 0;
      this.ask();
    }

    /** Whether what is beside the picture is to be written, too: always while it stands still, now and then while it runs. */
    tells() {
      const now = performance.now();
      if (this.running && now - this.told < WORDS) return false;
      this.told = now;
      return true;
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

  /** What plays a sequence of frames by a clock. A subclass has `frames`, `at` and `clock`, shows a frame by `seek(i)`, and stops
      by `pause()`. */
  Cellgames.Player = class {
    /** Return the controls: a range and a row of buttons; `names` are those of the group, the range, one step back and one on. */
    controls(count, names, pace, ends) {
      const button = Cellgames.iconButton, jump = (to) => () => { this.pause(); this.seek(to()); };
      this.toggle = button("play", "Play", () => (this.clock.running ? this.pause() : this.play()));
      this.toggle.classList.add("cg-main");
      this.range = element("input", { type: "range", class: "cg-range", min: 0, max: count - 1, step: 1, value: 0, "aria-label": names[1],
        oninput: () => {
          const to = Number(this.range.value); // a pause writes the frame that is shown
          this.pause();
          this.seek(to);
        } });
      this.count = element("span", { class: "cg-count" });
      this.row = element("div", { class: "cg-buttons" }, ends && button("first", "To the start", jump(() => 0)),
        button("back", names[2], jump(() => this.at - 1)), this.toggle, button("next", names[3], jump(() => this.at + 1)),
        ends && button("last", "To the end", jump(() => this.frames.length - 1)), this.count, pace);
      return element("div", { class: "cg-controls", role: "group", "aria-label": names[0] }, this.range, this.row);
    }

    play() {
      if (this.clock.running) return;
      if (this.at === this.frames.length - 1) this.seek(0);
      Cellgames.relabel(this.toggle, "pause", "Pause");
      this.clock.start();
    }
  };
})();
