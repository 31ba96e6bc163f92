/* Boards on a canvas: sizes, pointers, keys, zoom, what all games draw alike.

   A painter knows one kind of board (board_torus.js, board_stones.js, board_cells.js). It counts in units: a cell is 1 across, the
   board spans [0, width) x [0, height), and everything repeats beyond that where it wraps. Positions come from
   Python as frames; nothing here knows a rule. */
(function () {
  "use strict";
  const Cellgames = window.Cellgames;

  const MARGIN = { left: 24, top: 20, right: 8, bottom: 6 }; // CSS pixels, with room for letters and numbers
  const BARE = { left: 1, top: 1, right: 1, bottom: 1 };
  const SILENT = { update() {}, clear() {}, read() {} }; // the reader of a picture
  const SMALLEST = 2.5; // CSS pixels of a cell below which a wide board begins zoomed in, with cells of FINGER
  const FINGER = 7;
  const CLICK = 6; // a pointer that has moved less has not dragged
  const accent = () => Cellgames.either("#c2185b", "#ff6fa8");
  const wrong = () => Cellgames.either("#b00020", "#ff5c6c");

  class Board {
    /**
     * @param canvas in a container of its own, whose width it takes.
     * @param layout of the game, as Python gives it.
     * @param options `maxHeight`: CSS pixels, or a function that gives them; `x`: where a view begins that is zoomed in;
     *   `least`: CSS pixels of a cell, of a board that is not wide, below which the view begins zoomed in to that; `bare`: true
     *   for a picture beside words that say what it is.
     *
     * The board destroys itself when its canvas has left the page.
     */
    constructor(canvas, layout, options) {
      this.canvas = canvas;
      this.layout = layout;
      this.painter = Cellgames.painter(layout);
      this.options = options || {};
      const { bare } = this.options;
      this.margin = bare ? BARE : MARGIN;
      this.strip = bare ? 0 : this.painter.strip;
      this.onCell = null;
      this.onHover = null;
      this.frame = null;
      this.legal = null;
      this.shown = {};
      this.factor = 1;
      this.x = this.painter.width / 2; // the middle of the view, in units
      this.y = this.painter.height / 2;
      this.pointers = new Map();
      this.hovered = null;
      this.cursor = null;
      this.pending = 0;
      this.abort = new AbortController();
      canvas.classList.add("cg-canvas");
      canvas.tabIndex = bare ? -1 : 0;
      if (bare) canvas.setAttribute("aria-hidden", "true");
      this.reader = bare ? SILENT : new Cellgames.BoardReader(this);
      canvas.after((this.zoomer = this.buttons()));
      this.listen();
      this.resizer = new ResizeObserver(() => this.resize());
      this.resizer.observe(canvas.parentElement);
      this.resize();
    }

    /** For boards whose cells are too small for a finger. */
    buttons() {
      const acts = [["−", "Zoom out", () => this.zoom(1 / 1.6)], ["⤢", "Whole board", () => this.reset()],
        ["+", "Zoom in", () => this.zoom(1.6)]];
      return Cellgames.element("div", { class: "cg-zoom", role: "group", "aria-label": "Zoom" }, acts.map(([sign, label, act]) =>
        Cellgames.element("button", { type: "button", title: label, "aria-label": label, onclick: act }, sign)));
    }

    listen() {
      const on = (target, name, handler, more) =>
        target.addEventListener(name, handler.bind(this), { signal: this.abort.signal, ...more });
      on(this.canvas, "pointerdown", this.pressed);
      on(this.canvas, "pointermove", this.moved);
      on(this.canvas, "pointerup", this.released);
      on(this.canvas, "pointercancel", this.cancelled);
      on(this.canvas, "pointerleave", () => this.hover(null));
      on(this.canvas, "wheel", this.wheeled, { passive: false });
      on(this.canvas, "keydown", this.pressedKey);
      on(this.canvas, "blur", () => this.moveCursor(null));
      on(window, "resize", this.resize);
      on(this.canvas, "contextrestored", () => { this.around = null; this.invalidate(); });
      on(window, "cg-theme", () => {
        this.painter = Cellgames.painter(this.layout);
        this.invalidate();
      });
    }

    /** What to show; options that are left out are not shown. */
    draw(frame, options) {
      this.frame = frame;
      this.shown = options || {};
      this.legal = this.shown.legal ? new Set(this.shown.legal) : null;
      this.reader.update();
      if (this.hovered !== null) this.canvas.title = this.about(this.hovered);
      this.invalidate();
    }

    destroy() {
      this.abort.abort();
      this.resizer.disconnect();
      cancelAnimationFrame(this.pending);
      this.reader.clear();
      this.zoomer.remove();
    }

    invalidate() {
      if (!this.pending) {
        this.pending = requestAnimationFrame(() => {
          this.pending = 0;
          this.render();
        });
      }
    }

    // --- sizes

    resize() {
      const { painter, options, strip } = this;
      if (!this.canvas.isConnected) return void this.destroy();
      const available = this.canvas.parentElement.clientWidth;
      if (!available) return;
      const limit = typeof options.maxHeight === "function" ? options.maxHeight() : options.maxHeight;
      const most = Math.floor(options.bare ? limit : Math.max(160, limit || window.innerHeight * 0.75));
      const [units, high] = [painter.width + 2 * strip, painter.height + 2 * strip];
      let fit = Math.min((available - this.across) / units, (most - this.down) / high);
      const dpr = window.devicePixelRatio || 1;
      const whole = Math.floor(fit * dpr) / dpr;
      if (painter.snaps && fit * dpr >= 4 && (whole > 0.97 * fit || !this.wide)) fit = whole; // a wide board fills the width
      fit = Math.max(fit, options.bare ? 0.1 : 0.5);
      if (this.fit === fit && this.available === available && this.most === most) return;
      const first = this.fit === undefined;
      Object.assign(this, { fit, available, most });
      this.zoomer.hidden = options.bare || fit >= 12;
      if (first && !options.bare && fit < (this.wide ? SMALLEST : options.least || 0)) {
        this.factor = (this.wide ? Math.min(FINGER, (most - this.down) / high) : options.least) / fit;
        this.x = options.x ?? this.x;
      }
      this.spread();
      this.touches();
      this.clamp();
      this.render();
    }

    /** The canvas grows with the zoom as far as there is room. */
    spread() {
      const { painter, scale, strip } = this;
      const high = Math.max((painter.height + 2 * strip) * scale, this.layout.wrap && !this.options.bare ? 120 : 0);
      this.width = Math.min(this.available, Math.ceil((painter.width + 2 * strip) * scale + this.across));
      this.height = Math.min(this.most, Math.ceil(high + this.down));
    }

    /** True for boards like the Cup's, which are much wider than high. */
    get wide() {
      return this.painter.width > 2 * this.painter.height;
    }

    get scale() {
      return this.fit * this.factor;
    }

    get across() { return this.margin.left + this.margin.right; }
    get down() { return this.margin.top + this.margin.bottom; }

    get area() {
      const { left, top, right, bottom } = this.margin;
      return { left, top, right: this.width - right, bottom: this.height - bottom };
    }

    /** The middle of the view in CSS pixels. */
    get middle() {
      const { left, top, right, bottom } = this.area;
      return [(left + right) / 2, (top + bottom) / 2];
    }

    /** Units to CSS pixels inside the canvas. */
    place(x, y) {
      const [left, top] = this.middle;
      return [left + (x - this.x) * this.scale, top + (y - this.y) * this.scale];
    }

    /** CSS pixels inside the canvas to units. */
    unplace(left, top) {
      const [at, down] = this.middle;
      return [this.x + (left - at) / this.scale, this.y + (top - down) / this.scale];
    }

    /** The cell at a point of the canvas, null beside the board. */
    cellAt(left, top) {
      const { area } = this;
      if (left < area.left || left > area.right || top < area.top || top > area.bottom) return null;
      return this.painter.cellAt(...this.unplace(left, top));
    }

    /** The middle of a cell in CSS pixels inside the canvas: of the copy nearest to the middle of the view. */
    cellPoint(cell) {
      const { painter } = this;
      let [x, y] = painter.centre(cell);
      if (this.layout.wrap) {
        x += Math.round((this.x - x) / painter.width) * painter.width;
        y += Math.round((this.y - y) / painter.height) * painter.height;
      }
      const [left, top] = this.place(x, y);
      return { x: left, y: top };
    }

    /** What a cell is called. */
    describe(cell) {
      return this.painter.describe(cell);
    }

    /** What there is to say of a cell besides where it is; "" on most boards. */
    about(cell) {
      return this.painter.about ? this.painter.about(cell, this.frame, Cellgames.planes(this.frame)) : "";
    }

    get pannable() {
      return this.layout.wrap || this.factor > 1;
    }

    touches() {
      // Where the whole height is in view, a finger that moves up or down scrolls the page.
      const high = this.painter.height * this.scale <= this.height - this.down + 1 && this.wide;
      const all = this.layout.kind === "torus" || (this.factor > 1 && !high);
      this.canvas.style.touchAction = all ? "none" : "pan-y";
      this.canvas.style.cursor = this.pannable && !this.onCell ? "grab" : "";
    }

    // --- moving about

    /** Zoom by a factor about a point of the canvas, its middle by default. */
    zoom(by, left, top) {
      const [at, down] = left === undefined ? this.middle : [left, top];
      const [x, y] = this.unplace(at, down);
      const across = at - this.middle[0]; // stays, as the canvas grows to both sides, but only downward
      const most = Math.max(1, 48 / this.fit);
      this.factor = Math.min(most, Math.max(1, this.factor * by));
      this.spread();
      this.x = x - across / this.scale;
      this.y = y - (left === undefined ? 0 : down - this.middle[1]) / this.scale;
      this.touches();
      this.clamp();
      this.invalidate();
    }

    /** The whole board as at the beginning. */
    reset() {
      this.factor = 1;
      this.spread();
      this.x = this.painter.width / 2;
      this.y = this.painter.height / 2;
      this.touches();
      this.invalidate();
    }

    pan(dx, dy) {
      this.x -= dx / this.scale;
      this.y -= dy / this.scale;
      this.clamp();
      this.invalidate();
    }

    clamp() {
      const { width, height } = this.painter;
      if (this.layout.wrap) {
        this.x = Cellgames.mod(this.x, width);
        this.y = Cellgames.mod(this.y, height);
        return;
      }
      const within = (at, size, room) => {
        const half = room / 2 / this.scale;
        return half >= size / 2 ? size / 2 : Math.min(size - half, Math.max(half, at));
      };
      this.x = within(this.x, width, this.width - this.across);
      this.y = within(this.y, height, this.height - this.down);
    }

    point(event) {
      const box = this.canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    }

    pressed(event) {
      if (event.button) return;
      this.canvas.setPointerCapture(event.pointerId);
      const [left, top] = this.point(event);
      this.pointers.set(event.pointerId, { left, top, from: [left, top], dragged: this.pointers.size > 0 });
      if (this.pointers.size > 1) for (const other of this.pointers.values()) other.dragged = true;
    }

    moved(event) {
      const [left, top] = this.point(event);
      const pointer = this.pointers.get(event.pointerId);
      if (!pointer) {
        if (event.pointerType !== "touch") this.hover(this.cellAt(left, top));
        return;
      }
      const before = [...this.pointers.values()].map((p) => [p.left, p.top]);
      const [dx, dy] = [left - pointer.left, top - pointer.top];
      if (Math.hypot(left - pointer.from[0], top - pointer.from[1]) >= CLICK) pointer.dragged = true;
      if (!pointer.dragged) return;
      [pointer.left, pointer.top] = [left, top];
      if (this.pointers.size === 2) {
        const now = [...this.pointers.values()].map((p) => [p.left, p.top]);
        const apart = ([a, b]) => Math.max(1, Math.hypot(a[0] - b[0], a[1] - b[1]));
        this.zoom(apart(now) / apart(before), (now[0][0] + now[1][0]) / 2, (now[0][1] + now[1][1]) / 2);
        this.pan(dx / 2, dy / 2);
      } else if (this.pannable) {
        this.canvas.style.cursor = "grabbing";
        this.hover(null);
        this.pan(dx, dy);
      }
    }

    released(event) {
      const pointer = this.pointers.get(event.pointerId);
      this.pointers.delete(event.pointerId);
      this.touches();
      if (!pointer || pointer.dragged || !this.onCell) return;
      const cell = this.cellAt(...this.point(event));
      if (cell !== null) this.onCell(cell, event);
    }

    cancelled(event) {
      this.pointers.delete(event.pointerId);
      this.touches();
    }

    wheeled(event) {
      const big = this.fit < 14;
      if (!event.ctrlKey && !big) return;
      if (this.factor === 1 && event.deltaY > 0) return; // the page scrolls
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), ...this.point(event));
    }

    hover(cell) {
      if (cell === this.hovered) return;
      this.hovered = cell;
      this.canvas.title = cell === null || !this.frame ? "" : this.about(cell);
      if (this.onHover) this.onHover(cell);
      if (this.onCell) {
        this.canvas.style.cursor = cell !== null && this.offers(cell) ? "pointer" : "";
        this.invalidate();
      }
    }

    offers(cell) {
      return this.legal !== null && this.legal.has(cell);
    }

    pressedKey(event) {
      if (event.key === "+" || event.key === "=") this.zoom(1.5);
      else if (event.key === "-") this.zoom(1 / 1.5);
      else if (event.key === "0") this.reset();
      else if ((this.onCell || event.shiftKey) && event.key.startsWith("Arrow")) {
        this.moveCursor(this.cursor === null ? this.first() : this.painter.step(this.cursor, event.key.slice(5)));
      } else if (this.onCell && this.cursor !== null && (event.key === "Enter" || event.key === " ")) {
        this.onCell(this.cursor, event);
      } else return;
      event.preventDefault();
      event.stopPropagation();
    }

    /** Where the keyboard begins: the offered cell nearest to the middle of the view. */
    first() {
      const [left, top] = this.middle;
      let best = this.painter.cellAt(this.x, this.y) ?? 0, least = Infinity;
      for (const cell of this.legal || []) {
        const at = this.cellPoint(cell), far = Math.hypot(at.x - left, at.y - top);
        if (far < least) [best, least] = [cell, far];
      }
      return best;
    }

    moveCursor(cell) {
      if (cell === this.cursor) return;
      this.cursor = cell;
      if (cell !== null) {
        const at = this.cellPoint(cell);
        const { area } = this;
        const room = this.scale;
        const out = (low, high, p) => (p < low + room ? low + room - p : p > high - room ? high - room - p : 0);
        if (this.factor > 1) this.pan(out(area.left, area.right, at.x), out(area.top, area.bottom, at.y));
      }
      this.reader.read(cell);
      if (this.onHover) this.onHover(cell);
      this.invalidate();
    }

    // --- pictures

    /** Leave nothing on the canvas until the next picture. */
    wipe() {
      this.canvas.getContext("2d").clearRect(0, 0, this.canvas.width, this.canvas.height);
      this.around = null;
    }

    render() {
      if (!this.fit) return;
      const context = Cellgames.sharpen(this.canvas, this.width, this.height);
      const { area, painter } = this, [wide, high] = [area.right - area.left, area.bottom - area.top];
      // Around the board only a new view or theme changes anything; a film would write its numbers again 60 times a second.
      const around = [painter, this.frame && this.width, this.height, this.x, this.y, this.scale, window.devicePixelRatio];
      const same = this.around && around.every((part, i) => part === this.around[i]);
      if (same) context.clearRect(area.left, area.top, wide, high);
      else context.clearRect(0, 0, this.width, this.height);
      this.around = around;
      if (!this.frame) return;
      const [x0, y0] = this.unplace(area.left, area.top);
      const [x1, y1] = this.unplace(area.right, area.bottom);
      const view = { scale: this.scale, x0, y0, x1, y1, place: (x, y) => this.place(x, y) };
      context.save();
      context.beginPath();
      context.rect(area.left, area.top, wide, high);
      context.clip();
      painter.paint(context, view, this.frame, Cellgames.planes(this.frame));
      this.paintWorth(context, view);
      this.paintOffers(context, view);
      this.fade(context);
      this.paintGuide(context, view);
      this.paintChosen(context, view);
      context.restore();
      if (same) return;
      if (this.options.bare) return;
      this.frameAround(context);
      this.ruler(context, view);
    }

    /** All copies of a cell that are in view, as the places of their middles. */
    copies(cell, view) {
      const { width, height } = this.painter;
      const [x, y] = this.painter.centre(cell);
      if (!this.layout.wrap) return [view.place(x, y)];
      const found = [];
      for (let right = Math.floor((view.x0 - x) / width); right <= Math.ceil((view.x1 - x) / width); right++)
        for (let down = Math.floor((view.y0 - y) / height); down <= Math.ceil((view.y1 - y) / height); down++)
          found.push(view.place(x + right * width, y + down * height));
      return found;
    }

    /** Cells in the colours of what they were worth: `shown.worth` holds [cell, colour, framed]. */
    paintWorth(context, view) {
      const cells = this.shown.worth || [];
      context.globalAlpha = 0.9;
      for (const [cell, colour] of cells) {
        if (!colour) continue;
        context.fillStyle = colour;
        for (const at of this.copies(cell, view)) this.painter.outline(context, cell, at, view, "fill");
      }
      context.globalAlpha = 1;
      context.strokeStyle = Cellgames.either("#1d1a16", "#fffdf8");
      context.lineWidth = Math.max(1, Math.min(3, view.scale * 0.12));
      for (const [cell, , framed] of cells) {
        if (framed) for (const at of this.copies(cell, view)) this.painter.outline(context, cell, at, view, "stroke");
      }
    }

    /** Where a person may play, or shaded where it may not (`shade`: true, or the cells left light), the cell under the pointer,
     *  and what would come there. */
    paintOffers(context, view) {
      const { painter, shown } = this;
      if (shown.shade) {
        const allowed = shown.shade === true ? this.legal : shown.shade;
        painter.shade(context, view, Cellgames.planes(this.frame), allowed);
      } else if (this.legal && this.onCell) {
        const dot = Math.min(4, Math.max(1, view.scale * painter.dot));
        context.fillStyle = painter.dotColour;
        context.beginPath();
        for (const cell of this.legal) {
          for (const [x, y] of this.copies(cell, view)) {
            context.moveTo(x + dot, y);
            context.arc(x, y, dot, 0, 2 * Math.PI);
          }
        }
        context.fill();
      }
      if (shown.ghost && shown.ghost.length) { // what is still to be built
        context.strokeStyle = accent();
        context.lineWidth = Math.max(1, Math.min(2, view.scale * 0.14));
        const { cells } = Cellgames.planes(this.frame);
        for (const cell of shown.ghost) if (!cells[cell]) for (const at of this.copies(cell, view)) painter.outline(context, cell, at,
          view, "stroke");
      }
      if (shown.hover) {
        const { cells, ok, seat, bad } = shown.hover;
        context.globalAlpha = 0.62;
        const colour = ok === false ? wrong() : Cellgames.themed(this.layout).colours[seat] || accent();
        for (const cell of cells) {
          context.fillStyle = bad && bad.has(cell) ? wrong() : colour;
          for (const at of this.copies(cell, view)) painter.outline(context, cell, at, view, "fill");
        }
        context.globalAlpha = 1;
      }
      const near = this.cursor !== null ? this.cursor : this.hovered;
      if (near !== null && (this.cursor !== null || (this.onCell && this.offers(near)))) {
        context.strokeStyle = this.offers(near) ? accent() : Cellgames.either("#6b6b6b", "#b5b5b5");
        context.lineWidth = this.cursor !== null ? 3 : 2;
        for (const at of this.copies(near, view)) painter.outline(context, near, at, view, "stroke");
      }
    }

    /** Frames around the cells that a lesson speaks of: `shown.guide`. */
    paintGuide(context, view) {
      for (const [colour, width] of [[Cellgames.either("#ffffff", "#1b1916"), 7], [accent(), 4]]) {
        context.strokeStyle = colour;
        context.lineWidth = Math.min(width, Math.max(2, view.scale * 0.2 * (width / 4)));
        for (const cell of this.shown.guide || []) for (const at of this.copies(cell, view)) this.painter.outline(context, cell, at, view,
          "stroke");
      }
    }

    paintChosen(context, view) {
      for (const [cell, label] of this.shown.chosen || []) {
        for (const [x, y] of this.copies(cell, view)) {
          const radius = Math.max(7, view.scale * 0.36);
          context.beginPath();
          context.arc(x, y, radius, 0, 2 * Math.PI);
          context.fillStyle = Cellgames.either("#ffffffdd", "#1b1916dd");
          context.fill();
          context.lineWidth = 2.5;
          context.strokeStyle = accent();
          context.stroke();
          context.fillStyle = accent();
          context.font = `600 ${Math.round(radius * 1.1)}px system-ui, sans-serif`;
          context.textAlign = "center";
          context.textBaseline = "middle";
          context.fillText(String(label), x, y + 0.5);
        }
      }
    }

    /** Cells beyond one whole board are pale: those that lie farthest from the middle of the view. */
    fade(context) {
      const { area, painter } = this;
      if (!this.layout.wrap || this.factor > 1) return;
      const [left, top] = [Math.round(this.x - painter.width / 2), Math.round(this.y - painter.height / 2)];
      context.globalAlpha = 0.6;
      context.fillStyle = painter.faded;
      context.beginPath();
      context.rect(area.left, area.top, area.right - area.left, area.bottom - area.top);
      painter.edge(left, top).forEach(([x, y], i) => context[i ? "lineTo" : "moveTo"](...this.place(x, y)));
      context.closePath();
      context.fill("evenodd");
      context.globalAlpha = 1;
    }

    frameAround(context) {
      const { area } = this;
      context.strokeStyle = Cellgames.styled("--cg-line") || "#b9b1a3";
      context.lineWidth = 1;
      context.strokeRect(area.left - 0.5, area.top - 0.5, area.right - area.left + 1, area.bottom - area.top + 1);
    }

    /** Letters and numbers of columns and rows, as in the names of moves. */
    ruler(context, view) {
      const { area, painter } = this;
      const digits = painter.column(Math.max(painter.width, painter.height) - 1).length;
      const step = [1, 2, 5, 10, 20, 50, 100].find((some) => some * view.scale >= 8 + 7 * digits) || 200;
      context.fillStyle = Cellgames.styled("--cg-pale") || "#857d70";
      context.font = "11px system-ui, sans-serif";
      context.textAlign = "center";
      context.textBaseline = "alphabetic";
      for (let col = Math.ceil(view.x0 - 0.5); col + 0.5 <= view.x1; col++) {
        const number = Cellgames.mod(col, painter.width);
        if (number % step === 0) context.fillText(painter.column(number), view.place(col + 0.5, 0)[0], area.top - 6);
      }
      context.textAlign = "right";
      context.textBaseline = "middle";
      for (let row = Math.ceil(view.y0 - 0.5); row + 0.5 <= view.y1; row++) {
        const number = Cellgames.mod(row, painter.height);
        if (number % step === 0) context.fillText(painter.row(number), area.left - 4, view.place(0, row + 0.5)[1]);
      }
    }
  }

  Cellgames.Board = Board;
})();
