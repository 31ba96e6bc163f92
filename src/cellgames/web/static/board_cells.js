/* Boards of square cells: Cloth of Gold, Grid Adaptation, the Toroidal Cup; drawn as their rendering.py do. Cells that
   are too small for shapes become pixels of a picture that is scaled up. */
(function () {
  "use strict";
  const Cellgames = window.Cellgames;
  const SMALL = 3.2; // device pixels of a cell below which it is a pixel

  const rgb = (colour) => [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
  const blend = (a, b, share) => rgb(a).map((value, i) => Math.round(value + (rgb(b)[i] - value) * share));

  /** What boards of cells have in common; `look` paints: `pixel(code, marks)`, `paint(brush)`, `sample`. */
  function painter(layout, look) {
    const { rows, cols, wrap } = layout;
    const picture = document.createElement("canvas");

    function asPicture(context, view, planes) {
      picture.width = cols;
      picture.height = rows;
      const small = picture.getContext("2d");
      const image = small.createImageData(cols, rows);
      const known = new Map();
      for (let cell = 0; cell < rows * cols; cell++) {
        const key = planes.cells[cell] * 256 + planes.marks[cell];
        let colour = known.get(key);
        if (!colour) known.set(key, (colour = look.pixel(planes.cells[cell], planes.marks[cell])));
        image.data.set(colour, cell * 4);
        image.data[cell * 4 + 3] = colour.length > 3 ? colour[3] : 255;
      }
      small.putImageData(image, 0, 0);
      context.imageSmoothingEnabled = false;
      for (const [right, down] of copies(view)) {
        const [x, y] = view.place(right, down);
        context.drawImage(picture, x, y, cols * view.scale, rows * view.scale);
      }
    }

    /** Upper left corners, in units, of the copies of the board in view. */
    function copies(view) {
      if (!wrap) return [[0, 0]];
      const found = [];
      for (let right = Math.floor(view.x0 / cols) * cols; right < view.x1; right += cols)
        for (let down = Math.floor(view.y0 / rows) * rows; down < view.y1; down += rows) found.push([right, down]);
      return found;
    }

    /** Calls `each(cell, x, y)` for all cells in view, x and y the corner of the copy in pixels. */
    function cellsInView(view, each) {
      const [top, bottom] = [Math.floor(view.y0), Math.ceil(view.y1)];
      const [left, right] = [Math.floor(view.x0), Math.ceil(view.x1)];
      const [low, high] = wrap ? [top, bottom] : [Math.max(0, top), Math.min(rows, bottom)];
      const [first, last] = wrap ? [left, right] : [Math.max(0, left), Math.min(cols, right)];
      const [x, y] = view.place(first, low);
      for (let row = low; row < high; row++) {
        const start = Cellgames.mod(row, rows) * cols;
        const down = y + (row - low) * view.scale;
        for (let col = first; col < last; col++) {
          each(start + Cellgames.mod(col, cols), x + (col - first) * view.scale, down, row, col);
        }
      }
    }

    /** The lines along which copies of the board meet. */
    function seam(context, view) {
      context.strokeStyle = "#5b5348";
      context.lineWidth = 1;
      context.setLineDash([4, 4]);
      context.beginPath();
      for (const [right, down] of copies(view)) {
        const [x, y] = view.place(right, down);
        const [x1, y1] = view.place(right + cols, down + rows);
        context.moveTo(Math.round(x) + 0.5, y);
        context.lineTo(Math.round(x) + 0.5, y1);
        context.moveTo(x, Math.round(y) + 0.5);
        context.lineTo(x1, Math.round(y) + 0.5);
      }
      context.stroke();
      context.setLineDash([]);
    }

    return {
      width: cols,
      height: rows,
      strip: 0,
      snaps: true,
      faded: "#efe9de",
      dot: look.dot,
      dotColour: "#3b362f80",
      edge: (left, top) => [[left, top], [left + cols, top], [left + cols, top + rows], [left, top + rows]],
      centre: (cell) => [(cell % cols) + 0.5, Math.floor(cell / cols) + 0.5],
      cellAt(x, y) {
        let [row, col] = [Math.floor(y), Math.floor(x)];
        if (wrap) [row, col] = [Cellgames.mod(row, rows), Cellgames.mod(col, cols)];
        return row >= 0 && row < rows && col >= 0 && col < cols ? row * cols + col : null;
      },
      step(cell, way) {
        let [row, col] = [Math.floor(cell / cols), cell % cols];
        row += { Down: 1, Up: -1 }[way] || 0;
        col += { Right: 1, Left: -1 }[way] || 0;
        if (wrap) return Cellgames.mod(row, rows) * cols + Cellgames.mod(col, cols);
        return Math.min(rows - 1, Math.max(0, row)) * cols + Math.min(cols - 1, Math.max(0, col));
      },
      describe: (cell) => `row ${Math.floor(cell / cols)}, column ${cell % cols}`,
      column: String,
      row: String,
      outline(context, cell, [x, y], view, how) {
        const half = view.scale / 2;
        if (how === "fill") context.fillRect(x - half, y - half, view.scale, view.scale);
        else context.strokeRect(x - half, y - half, view.scale, view.scale);
      },
      sample: look.sample,
      paint(context, view, frame, planes) {
        const [x, y] = view.place(0, 0);
        context.fillStyle = layout.ground;
        if (wrap) context.fillRect(0, 0, 1e5, 1e5);
        else context.fillRect(x, y, cols * view.scale, rows * view.scale);
        if (look.behind) look.behind(context, view, frame, copies(view));
        if (view.scale * (window.devicePixelRatio || 1) < SMALL || (look.large && view.scale < look.large)) {
          asPicture(context, view, planes);
        } else {
          look.paint({ context, view, frame, ...planes, each: (act) => cellsInView(view, act) });
        }
        if (wrap) seam(context, view);
        const last = frame.last || [];
        if (last.length && look.last) look.last(context, view, last, planes, copies(view));
      },
    };
  }

  function grid({ context, view, each }, colour) {
    if (view.scale < 9) return;
    context.strokeStyle = colour;
    context.globalAlpha = 0.22;
    context.lineWidth = 1;
    context.beginPath();
    each((cell, x, y) => {
      context.moveTo(x, y + view.scale);
      context.lineTo(x, y);
      context.lineTo(x + view.scale, y);
    });
    context.stroke();
    context.globalAlpha = 1;
  }

  // ---------------------------------------------------------------- Cloth of Gold

  Cellgames.painters.cloth = function (layout) {
    const { palette, cols, rows } = layout;
    const held = (mark) => mark & 3;
    const sides = [1, 2];

    function ground({ context, view, marks, each }) {
      for (let kind = 1; kind < 4; kind++) {
        context.fillStyle = palette.ground[kind - 1];
        context.beginPath();
        each((cell, x, y) => held(marks[cell]) === kind && context.rect(x, y, view.scale + 0.3, view.scale + 0.3));
        context.fill();
      }
    }

    function hatching({ context, view, marks, each }) {
      const step = Math.max(1, Math.round(9 / view.scale));
      const parts = Math.max(1, Math.round(view.scale / 12));
      const size = view.scale / parts;
      context.strokeStyle = palette.hatch;
      context.lineWidth = Math.min(2.4, Math.max(1, view.scale / 5));
      context.beginPath();
      each((cell, x, y, row, col) => {
        if (held(marks[cell]) !== 3 || (row + col) % step) return;
        for (let i = 0; i < parts; i++) {
          for (let j = 0; j < parts; j++) {
            context.moveTo(x + i * size, y + (j + 1) * size);
            context.lineTo(x + (i + 1) * size, y + j * size);
          }
        }
      });
      context.stroke();
    }

    /** Where territories end: a's edge unbroken, b's in dashes. */
    function edges({ context, view, marks, each }) {
      const size = view.scale;
      sides.forEach((bit, side) => {
        context.strokeStyle = palette.edge[side];
        context.lineWidth = size < 6 ? 1 : 1.6;
        const piece = size / (2 * Math.max(1, Math.round(size / 9)));
        context.setLineDash(side ? [piece, piece] : []);
        context.beginPath();
        each((cell, x, y, row, col) => {
          const here = marks[cell] & bit;
          if (row && (marks[cell - cols] & bit) !== here) {
            context.moveTo(x, y);
            context.lineTo(x + size, y);
          }
          if (col && (marks[cell - 1] & bit) !== here) {
            context.moveTo(x, y);
            context.lineTo(x, y + size);
          }
        });
        context.stroke();
      });
      context.setLineDash([]);
    }

    function unit(context, x, y, size, code) {
      const gap = size >= 6 ? size * 0.04 : 0;
      const middle = [x + size / 2, y + size / 2];
      if (code === 1) context.rect(x + gap, y + gap, size - 2 * gap, size - 2 * gap);
      else if (code === 2) {
        context.moveTo(middle[0] + size / 2 - gap, middle[1]);
        context.arc(...middle, size / 2 - gap, 0, 2 * Math.PI);
      } else if (code === 4) {
        const reach = size * 0.36;
        context.moveTo(middle[0] - reach, middle[1] - reach);
        context.lineTo(middle[0] + reach, middle[1] + reach);
        context.moveTo(middle[0] - reach, middle[1] + reach);
        context.lineTo(middle[0] + reach, middle[1] - reach);
      } else {
        const reach = size * 0.4;
        context.moveTo(middle[0], middle[1] - reach);
        context.lineTo(middle[0] + reach, middle[1]);
        context.lineTo(middle[0], middle[1] + reach);
        context.lineTo(middle[0] - reach, middle[1]);
        context.closePath();
      }
    }

    const drawn = [
      [1, "fill", palette.units[0]],
      [2, "fill", palette.units[1]],
      [3, "stroke", palette.neutral],
      [4, "stroke", palette.killed],
    ];

    function units({ context, view, cells, each }) {
      for (const [code, how, colour] of drawn) {
        context[`${how}Style`] = colour;
        context.lineWidth = Math.max(1, view.scale * (code === 4 ? 0.22 : 0.16));
        context.beginPath();
        each((cell, x, y) => cells[cell] === code && unit(context, x, y, view.scale, code));
        context[how]();
      }
    }

    function placed({ context, view, marks, each }) {
      const dot = Math.max(0.16 * view.scale, 0.7);
      context.fillStyle = palette.world;
      context.beginPath();
      each((cell, x, y) => {
        if (!(marks[cell] & layout.marks.placed)) return;
        const middle = [x + view.scale / 2, y + view.scale / 2];
        context.moveTo(middle[0] + dot, middle[1]);
        context.arc(...middle, dot, 0, 2 * Math.PI);
      });
      context.fill();
    }

    function paint(brush) {
      ground(brush);
      hatching(brush);
      grid(brush, palette.grid);
      edges(brush);
      units(brush);
      placed(brush);
    }

    return painter(layout, {
      dot: 0.08,
      pixel(code, mark) {
        if (code === 1 || code === 2) return rgb(palette.units[code - 1]);
        if (code === 3) return rgb(palette.neutral);
        if (code === 4) return rgb(palette.killed);
        const kind = held(mark);
        if (kind === 3) return blend(palette.ground[0], palette.ground[2], 0.5);
        return rgb(kind ? palette.ground[kind - 1] : palette.world);
      },
      paint,
      last(context, view, last) {
        context.strokeStyle = palette.ring;
        context.lineWidth = Math.max(1.5, Math.min(3, view.scale * 0.14));
        context.beginPath();
        for (const cell of last) {
          const [x, y] = view.place((cell % cols) + 0.5, Math.floor(cell / cols) + 0.5);
          const radius = Math.max(last.length > 1 ? view.scale * 0.62 : view.scale * 0.75, 4);
          context.moveTo(x + radius, y);
          context.arc(x, y, radius, 0, 2 * Math.PI);
        }
        context.stroke();
      },
      sample(context, size, code, marks) {
        const view = { scale: size };
        const each = (act) => act(0, 0, 0, 0, 0);
        const brush = { context, view, cells: [code], marks: [marks], each };
        ground(brush);
        hatching(brush);
        if (code) units(brush);
        placed(brush);
      },
    });
  };

  // ---------------------------------------------------------------- Grid Adaptation

  Cellgames.painters.tiles = function (layout) {
    const { palette, marks: bits } = layout;
    const ghostOf = (mark) => Math.floor(mark / bits.ghost);

    /** A square, or a ringed disc if it is born, with a bar for each 1 and a dot for each 0. */
    function tile(context, x, y, size, sequence, born) {
      context.fillStyle = palette.tiles[sequence];
      context.beginPath();
      if (born) context.arc(x + size / 2, y + size / 2, size * 0.43, 0, 2 * Math.PI);
      else context.roundRect(x + 0.07 * size, y + 0.07 * size, 0.86 * size, 0.86 * size, size * 0.08);
      context.fill();
      context.strokeStyle = born ? palette.ring : "#14110e55";
      context.lineWidth = Math.max(born ? 1.5 : 0.75, (born ? 0.09 : 0.03) * size);
      context.stroke();
      context.fillStyle = palette.digit[palette.dark[sequence] ? 0 : 1];
      for (let place = 0; place < 3; place++) {
        const middle = x + size * (0.5 + 0.19 * (place - 1));
        context.beginPath();
        if (sequence & (4 >> place)) context.rect(middle - 0.05 * size, y + 0.31 * size, 0.1 * size, 0.38 * size);
        else context.arc(middle, y + size / 2, Math.max(0.7, 0.05 * size), 0, 2 * Math.PI);
        context.fill();
      }
    }

    function ghost(context, x, y, size, code) {
      context.globalAlpha = 0.32;
      context.fillStyle = code ? palette.tiles[code - 1] : palette.board;
      context.fillRect(x + 0.14 * size, y + 0.14 * size, 0.72 * size, 0.72 * size);
      context.globalAlpha = 1;
      context.strokeStyle = palette.cross;
      context.lineWidth = Math.max(1, 0.07 * size);
      context.beginPath();
      context.moveTo(x + 0.28 * size, y + 0.28 * size);
      context.lineTo(x + 0.72 * size, y + 0.72 * size);
      context.moveTo(x + 0.28 * size, y + 0.72 * size);
      context.lineTo(x + 0.72 * size, y + 0.28 * size);
      context.stroke();
    }

    function corner(context, x, y, size) {
      context.beginPath();
      context.moveTo(x + 0.03 * size, y + 0.03 * size);
      context.lineTo(x + 0.34 * size, y + 0.03 * size);
      context.lineTo(x + 0.03 * size, y + 0.34 * size);
      context.closePath();
      context.fillStyle = palette.ring;
      context.fill();
      context.strokeStyle = palette.board;
      context.lineWidth = Math.max(1, 0.07 * size); // to be seen on dark tiles, too
      context.stroke();
    }

    function one(context, x, y, size, code, mark) {
      if (mark & bits.died) ghost(context, x, y, size, ghostOf(mark));
      if (code) tile(context, x, y, size, code - 1, Boolean(mark & bits.born));
      if (mark & bits.placed) corner(context, x, y, size);
    }

    return painter(layout, {
      dot: 0.07,
      pixel: (code) => rgb(code ? palette.tiles[code - 1] : palette.board),
      paint(brush) {
        grid(brush, palette.grid);
        brush.each((cell, x, y) => one(brush.context, x, y, brush.view.scale, brush.cells[cell], brush.marks[cell]));
      },
      sample: (context, size, code, marks) => one(context, 0, 0, size, code, marks),
    });
  };

  // ---------------------------------------------------------------- the Toroidal Cup

  Cellgames.painters.colours = function (layout) {
    const { palette, cols, rows } = layout;

    function cell(context, x, y, size) {
      const gap = size >= 6 ? size * 0.04 : 0;
      context.rect(x + gap, y + gap, size - 2 * gap, size - 2 * gap);
    }

    return painter(layout, {
      dot: 0.22,
      pixel: (code) => (code ? rgb(palette.cells[code - 1]) : [255, 255, 255, 0]),
      /* A tint behind every team's band while teams place their shapes. */
      behind(context, view, frame, copies) {
        if (!frame.bands) return;
        context.globalAlpha = 0.1;
        for (const [right, down] of copies) {
          layout.colours.forEach((colour, team) => {
            const [x, y] = view.place(right + team * layout.band, down);
            context.fillStyle = colour;
            context.fillRect(x, y, layout.band * view.scale, rows * view.scale);
          });
        }
        context.globalAlpha = 1;
      },
      paint(brush) {
        const { context, view, cells } = brush;
        grid(brush, palette.line);
        layout.colours.forEach((colour, team) => {
          context.fillStyle = colour;
          context.beginPath();
          brush.each((at, x, y) => cells[at] === team + 1 && cell(context, x, y, view.scale));
          context.fill();
        });
      },
      last(context, view, last, planes, copies) {
        context.strokeStyle = palette.ink;
        context.lineWidth = view.scale >= 6 ? 1.5 : 1;
        context.beginPath();
        for (const [right, down] of copies) {
          for (const at of last) {
            if (!planes.cells[at]) continue;
            const [x, y] = view.place(right + (at % cols), down + Math.floor(at / cols));
            context.rect(x, y, view.scale, view.scale);
          }
        }
        context.stroke();
      },
      sample(context, size, code) {
        if (!code) return;
        context.fillStyle = palette.cells[code - 1];
        context.beginPath();
        cell(context, 1, 1, size - 2);
        context.fill();
      },
    });
  };
})();
