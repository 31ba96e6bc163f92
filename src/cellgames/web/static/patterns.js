/* Patterns of Life to place cell by cell: a palette of pictures, the one in hand turned and mirrored, and marks of what is
   still to be built. The patterns come from Python (web/views/patterns.py), and so does what is allowed. */
"use strict";
(() => {
  const { el, plural } = Cellgames.app;

  const { svg } = Cellgames;

  /** A small picture of cells, pairs of row and column from 0 on. */
  function picture(cells, colour) {
    const high = Math.max(...cells.map(([row]) => row)) + 1, wide = Math.max(...cells.map(([, col]) => col)) + 1;
    const side = Math.max(5, high + 1, wide + 1);
    const made = svg("svg", { class: "shape", viewBox: `${(wide - side) / 2} ${(high - side) / 2} ${side} ${side}`,
      "aria-hidden": "true" });
    made.style.fill = colour;
    for (const [row, col] of cells) made.append(svg("rect", { x: col + 0.04, y: row + 0.04, width: 0.92, height: 0.92 }));
    return made;
  }

  Cellgames.Palette = class {
    /**
     * @param groups what about.patterns holds.
     * @param board `rows`, `cols` and `colour`, of the units that are placed.
     * @param changed is called when another pattern is in hand, or it lies another way.
     */
    constructor(groups, board, changed) {
      Object.assign(this, { board, changed, hand: null, turned: 0, ghost: [] });
      this.buttons = groups.flatMap(({ patterns }) => patterns.map((pattern) => {
        const words = `${pattern.name}, ${plural(pattern.cells.length, "unit")}`;
        const button = el("button", { type: "button", class: "pattern", title: words, "aria-label": words, "aria-pressed": "false",
          onclick: () => this.take(this.hand === pattern ? null : pattern) }, picture(pattern.cells, board.colour));
        return [pattern, button];
      }));
      const of = new Map(this.buttons);
      this.words = el("p", { class: "hint", role: "status" });
      this.turnButton = el("button", { type: "button", title: "Key R", onclick: () => this.turn() }, "Turn ↻");
      this.flipButton = el("button", { type: "button", title: "Key F", onclick: () => this.flip() }, "Mirror ⇋");
      this.down = el("button", { type: "button", title: "Escape", onclick: () => this.take(null) }, "Put it back");
      this.tools = el("p", { class: "buttons", hidden: true }, this.turnButton, this.flipButton, this.down);
      this.root = el("details", { class: "palette", open: window.matchMedia("(min-width: 861px) and (min-height: 700px)").matches },
        el("summary", {}, "Patterns"), this.words, this.tools,
        groups.map(({ group, patterns }) => el("div", { role: "group", "aria-label": group }, el("h3", {}, group),
          el("div", { class: "patterns" }, patterns.map((pattern) => of.get(pattern))))));
      this.say();
    }

    take(pattern) {
      this.hand = pattern;
      this.turned = 0;
      this.say();
      this.changed();
    }

    say() {
      for (const [pattern, button] of this.buttons) button.setAttribute("aria-pressed", String(pattern === this.hand));
      this.tools.hidden = !this.hand;
      this.words.textContent = this.hand
        ? `${this.hand.name[0].toUpperCase()}${this.hand.name.slice(1)}, ${plural(this.hand.cells.length, "unit")}: click where it is ` +
          `to be, or tap and then press the button.`
        : "Choose a pattern to place it with one click.";
    }

    turn() { this.lie((this.turned & 4) | ((this.turned + 1) & 3)); }

    flip() { this.lie((this.turned ^ 4) & 4 | ((4 - (this.turned & 3)) & 3)); }

    lie(turned) {
      this.turned = turned;
      this.changed();
    }

    /** The cells of the pattern in hand about a cell; null where it would leave the board. */
    around(cell) {
      const { rows, cols } = this.board, { cells } = this.hand;
      const middle = [0, 1].map((axis) => Math.max(...cells.map((one) => one[axis])) >> 1);
      const found = [];
      for (const one of cells) {
        let [down, right] = [one[0] - middle[0], one[1] - middle[1]];
        if (this.turned & 4) right = -right; // mirrored left to right, then turned clockwise
        for (let turns = this.turned & 3; turns; turns--) [down, right] = [right, -down];
        const [row, col] = [Math.floor(cell / cols) + down, (cell % cols) + right];
        if (row < 0 || row >= rows || col < 0 || col >= cols) return null;
        found.push(row * cols + col);
      }
      return found;
    }

    enable(free) {
      for (const [, button] of this.buttons) button.disabled = !free;
      for (const button of [this.turnButton, this.flipButton, this.down]) button.disabled = !free;
    }

    /** Whether a key meant something. */
    key(key) {
      if (!this.hand) return false;
      if (key === "r") this.turn();
      else if (key === "f") this.flip();
      else if (key === "escape") this.take(null);
      else return false;
      return true;
    }
  };
})();
