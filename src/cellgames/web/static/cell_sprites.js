/* Sprites of cells: a board of many small cells is put together from pictures of cells. Each is painted once, by the
   painter of the board, and copied to where a cell has changed since the last picture. */
(function () {
  "use strict";
  const Cellgames = window.Cellgames;

  const MANY = 1000; // cells of a board from which this is quicker than shapes
  const [SMALLEST, LARGEST] = [4, 24]; // device pixels of a cell
  const PIXELS = 4e6; // device pixels of a board, at most
  const [HIGH, WIDE] = [3, 12]; // cells of the little board on which a sprite is painted

  Cellgames.CellSprites = class {
    /**
     * @param layout of the board, in the colours of the theme.
     * @param alike tells what cells look like: `key(planes, at, row, col, phases)` is the same number for cells that look
     *   alike, `around(key, phases, high, wide)` a little board and the cell on it that looks so; `phases(scale)`.
     */
    constructor(layout, alike) {
      Object.assign(this, { layout, alike, scale: 0, dpr: 0 });
    }

    /** Whether the board is painted; it is not where cells are few or large, or no whole number of pixels. */
    paint(context, view, planes) {
      const { rows, cols } = this.layout, dpr = window.devicePixelRatio || 1;
      const size = Math.round(view.scale * dpr);
      if (rows * cols < MANY || Math.abs(size - view.scale * dpr) > 1e-6 || size < SMALLEST || size > LARGEST) return false;
      if (rows * cols * size * size > PIXELS) return false;
      if (view.scale !== this.scale || dpr !== this.dpr) this.start(view.scale, dpr, size);
      this.update(planes);
      const [x, y] = view.place(0, 0).map((at) => Math.round(at * dpr) / dpr);
      context.imageSmoothingEnabled = false;
      context.drawImage(this.canvas, x, y, cols * view.scale, rows * view.scale);
      return true;
    }

    start(scale, dpr, size) {
      const { rows, cols } = this.layout;
      Object.assign(this, { scale, dpr, size, sprites: new Map(), phases: this.alike.phases(scale) });
      this.little = this.little || Cellgames.painters[this.layout.paint]({ ...this.layout, rows: HIGH, cols: WIDE });
      this.canvas = Cellgames.element("canvas", { width: cols * size, height: rows * size });
      this.context = this.canvas.getContext("2d");
      this.image = this.context.createImageData(cols * size, rows * size);
      this.pixels = new Uint32Array(this.image.data.buffer);
      this.shown = new Int32Array(rows * cols).fill(-1); // keys
      this.brush = Cellgames.element("canvas", { width: size, height: size }).getContext("2d", { willReadFrequently: true });
    }

    /** Copy the sprites of cells that look different now. */
    update(planes) {
      const { layout: { rows, cols }, shown, alike, phases, size } = this;
      let [top, left, bottom, right] = [rows, cols, -1, -1];
      for (let row = 0, at = 0; row < rows; row++) {
        for (let col = 0; col < cols; col++, at++) {
          const key = alike.key(planes, at, row, col, phases);
          if (key === shown[at]) continue;
          shown[at] = key;
          this.copy(this.sprites.get(key) || this.painted(key), row, col);
          top = Math.min(top, row);
          bottom = row;
          if (col < left) left = col;
          if (col > right) right = col;
        }
      }
      if (bottom < 0) return;
      const part = [left, top, right - left + 1, bottom - top + 1].map((cells) => cells * size);
      this.context.putImageData(this.image, 0, 0, ...part);
    }

    copy(sprite, row, col) {
      const { pixels, size } = this, wide = this.layout.cols * size;
      for (let y = 0, from = 0, to = row * size * wide + col * size; y < size; y++, to += wide - size) {
        for (let x = 0; x < size; x++) pixels[to++] = sprite[from++];
      }
    }

    /** The view of a cell and of those around it, whose lines reach into it. */
    viewOf(row, col) {
      const { scale } = this;
      return { scale, x0: col - 1, y0: row - 1, x1: col + 2, y1: row + 2, place: (x, y) => [(x - col) * scale, (y - row) * scale] };
    }

    /** The pixels of cells with a key. */
    painted(key) {
      const { brush, scale, dpr, size } = this;
      const { at, ...planes } = this.alike.around(key, this.phases, HIGH, WIDE);
      const [row, col] = [Math.floor(at / WIDE), at % WIDE];
      brush.setTransform(dpr, 0, 0, dpr, 0, 0);
      brush.clearRect(0, 0, scale, scale);
      this.little.paint(brush, this.viewOf(row, col), {}, planes);
      const sprite = new Uint32Array(brush.getImageData(0, 0, size, size).data.buffer);
      this.sprites.set(key, sprite);
      return sprite;
    }
  };
})();
