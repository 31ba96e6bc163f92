/* Boards of square cells: Cloth of Gold, Grid Adaptation, the Toroidal Cup; drawn as their rendering.py do. Cells that
   are too small for shapes become pixels of a picture that is scaled up. */
(function () {
  "use strict";
  const Cellgames = window.Cellgames;
  const SMALL = 3.2; // device pixels of a cell below which it is a pixel

  const shade = () => Cellgames.either("#4a403026", "#ffffff1f"); // on cells where a person may not place

  const rgb = (colour) => [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
  const blend = (a, b, share) => rgb(a).map((value, i) => Math.round(value + (rgb(b)[i] - value) * share));

  /** A colour as one number, as pictures hold it in memory. */
  const word = ([red, green, blue, alpha = 255]) => new Uint32Array(Uint8Array.of(red, green, blue, alpha).buffer)[0];

  /** Add a line through points to the path. */
  const trace = (context, ...points) => points.forEach((point, i) => context[i ? "lineTo" : "moveTo"](...point));

  function cross(context, x, y, reach) {
    for (const sign of [1, -1]) trace(context, [x - reach, y - sign * reach], [x + reach, y + sign * reach]);
  }

  /** What boards of cells have in common; `look` paints: `pixel(code, marks)`, `paint(brush)`, `sample`; `alike`
   *  where sprites can (CellSprites). */
  function painter(layout, look) {
    const { rows, cols, wrap } = layout;
    const picture = document.createElement("canvas");
    const colours = []; // of pixels, by code and marks
    const sprites = look.alike ? new Cellgames.CellSprites(layout, look.alike) : null;

    function asPicture(context, view, planes) {
      picture.width = cols;
      picture.height = rows;
      const small = picture.getContext("2d");
      const image = small.createImageData(cols, rows), pixels = new Uint32Array(image.data.buffer);
      for (let cell = 0; cell < rows * cols; cell++) {
        const key = planes.cells[cell] * 256 + planes.marks[cell];
        pixels[cell] = colours[key] ?? (colours[key] = word(look.pixel(planes.cells[cell], planes.marks[cell])));
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
      const from = Cellgames.mod(first, cols);
      for (let row = low; row < high; row++) {
        const start = Cellgames.mod(row, rows) * cols, down = y + (row - low) * view.scale;
        for (let col = first, place = from; col < last; col++) {
          each(start + place, x + (col - first) * view.scale, down, row, col);
          if (++place === cols) place = 0;
        }
      }
    }

    /** Adds to the path a strip for each run of cells of a row for which `holds(cell)`; one long strip costs as much as a cell. */
    function strips(context, view, holds) {
      let [begun, at, down, end] = [false, 0, 0, 0];
      const close = () => {
        if (begun) context.rect(at, down, end - at, view.scale + 0.3);
        begun = false;
      };
      cellsInView(view, (cell, x, y) => {
        if (begun && (y !== down || !holds(cell))) close();
        if (!begun && holds(cell)) [begun, at, down] = [true, x, y];
        if (begun) end = x + view.scale + 0.3;
      });
      close();
    }

    /** The lines along which copies of the board meet. */
    function seam(context, view) {
      context.strokeStyle = Cellgames.either("#5b5348", "#d8cfc0");
      context.lineWidth = 1;
      context.setLineDash([4, 4]);
      context.beginPath();
      for (const [right, down] of copies(view)) {
        const [x, y] = view.place(right, down);
        const [x1, y1] = view.place(right + cols, down + rows);
        trace(context, [Math.round(x) + 0.5, y], [Math.round(x) + 0.5, y1]);
        trace(context, [x, Math.round(y) + 0.5], [x1, Math.round(y) + 0.5]);
      }
      context.stroke();
      context.setLineDash([]);
    }

    return {
      width: cols,
      height: rows,
      strip: 0,
      snaps: true,
      faded: Cellgames.either("#efe9de", "#26221d"),
      dot: look.dot,
      dotColour: `${layout.palette.ink}80`,
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
      about: look.about,
      describe: (cell) => `row ${Math.floor(cell / cols)}, column ${cell % cols}`,
      holds: look.holds,
      changes: look.changes,
      grid: { rows, cols, cell: (row, col) => row * cols + col, place: (cell) => [Math.floor(cell / cols), cell % cols] },
      column: String,
      row: String,
      outline(context, cell, [x, y], view, how) {
        const half = view.scale / 2;
        if (how === "fill") context.fillRect(x - half, y - half, view.scale, view.scale);
        else context.strokeRect(x - half, y - half, view.scale, view.scale);
      },
      sample: look.sample,
      sprites,
      /* A calm tint on empty cells that are not allowed. */
      shade(context, view, planes, allowed) {
        context.fillStyle = shade();
        context.beginPath();
        strips(context, view, (cell) => !planes.cells[cell] && !allowed.has(cell));
        context.fill();
      },
      paint(context, view, frame, planes) {
        const [x, y] = view.place(0, 0);
        context.fillStyle = layout.ground;
        if (wrap) context.fillRect(0, 0, 1e5, 1e5);
        else context.fillRect(x, y, cols * view.scale, rows * view.scale);
        if (look.behind) look.behind(context, view, frame, copies(view));
        if (view.scale * (window.devicePixelRatio || 1) < SMALL || (look.large && view.scale < look.large)) {
          asPicture(context, view, planes);
        } else if (!(this.sprites && this.sprites.paint(context, view, planes))) {
          const each = (act) => cellsInView(view, act);
          look.paint({ context, view, frame, ...planes, each, strips: (holds) => strips(context, view, holds) });
        }
        if (wrap) seam(context, view);
        if (look.above) look.above(context, view, frame, copies(view));
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
    const hatched = (scale) => Math.max(1, Math.round(9 / scale)); // one of so many diagonals of contested cells
    const sides = [1, 2];

    // Wild options: three bits of the marks are the ground, two are wards; animals come with the frame.
    const landOf = (mark) => (palette.land ? (mark >> 3) & 7 : 0);

    /** Water has waves, forest trees, rock peaks, fire flames; burnt ground is only dark. */
    function land({ context, view, marks, each }) {
      if (!palette.land) return;
      const size = view.scale;
      for (let kind = 1; kind < palette.land.length; kind++) {
        context.fillStyle = palette.land[kind];
        context.beginPath();
        each((cell, x, y) => landOf(marks[cell]) === kind && context.rect(x, y, size + 0.3, size + 0.3));
        context.fill();
      }
      if (size < 7) return;
      const shapes = {
        1: [[0.16, 0.58], [0.34, 0.42], [0.5, 0.58], [0.66, 0.42], [0.84, 0.58]],
        2: [[0.28, 0.74], [0.5, 0.2], [0.72, 0.74]],
        3: [[0.16, 0.74], [0.42, 0.26], [0.58, 0.56], [0.68, 0.4], [0.84, 0.74]],
        5: [[0.3, 0.92], [0.12, 0.6], [0.3, 0.3], [0.5, 0.04], [0.7, 0.4], [0.84, 0.28], [0.88, 0.66], [0.7, 0.92]],
      };
      for (const [kind, points] of Object.entries(shapes)) {
        const fills = kind === "2" || kind === "5";
        context.fillStyle = context.strokeStyle = palette.signs[kind];
        context.lineWidth = 1;
        context.beginPath();
        each((cell, x, y) => {
          if (landOf(marks[cell]) !== Number(kind)) return;
          trace(context, ...points.map(([right, down]) => [x + right * size, y + down * size]));
        });
        if (fills) context.fill();
        else context.stroke();
      }
    }

    /** a's wards are plus signs in the upper left of cells, b's are crosses in the lower right. */
    function wards({ context, view, marks, each }) {
      if (!palette.wards) return;
      const [size, reach] = [view.scale, view.scale * 0.17];
      palette.wards.forEach((colour, side) => {
        const bit = side ? 128 : 64;
        const [across, down] = side ? [0.76, 0.76] : [0.24, 0.24];
        const [first, second] = side ? [[1, 1], [1, -1]] : [[1, 0], [0, 1]];
        context.strokeStyle = colour;
        context.lineWidth = Math.max(1, size * 0.09);
        context.beginPath();
        each((cell, x, y) => {
          if (!(marks[cell] & bit)) return;
          const at = (part, sign) => [x + across * size + sign * part[0] * reach, y + down * size + sign * part[1] * reach];
          for (const part of [first, second]) trace(context, at(part, -1), at(part, 1));
        });
        context.stroke();
      });
    }

    /** Grazers are rings, hunters triangles, guards shields. */
    function animals(context, view, frame) {
      const radius = Math.max(5, view.scale * 0.5);
      for (const [kind, cell] of frame.animals || []) {
        const [x, y] = view.place((cell % cols) + 0.5, Math.floor(cell / cols) + 0.5);
        const at = (points) => trace(context, ...points.map(([a, b]) => [x + a * radius, y + b * radius]));
        context.beginPath();
        if (kind === 0) context.arc(x, y, radius * 0.8, 0, 2 * Math.PI);
        else at(kind === 1 ? [[0, -1.1], [1.1, 0.9], [-1.1, 0.9]] : [[-0.9, -0.9], [0.9, -0.9], [0.9, 0.3], [0, 1.1], [-0.9, 0.3]]);
        context.closePath();
        context.fillStyle = kind === 1 ? "#111111" : "#ffffff";
        context.strokeStyle = kind === 1 ? "#ffffff" : "#111111";
        context.lineWidth = Math.max(1.5, radius * (kind === 0 ? 0.5 : 0.3));
        context.fill();
        context.stroke();
      }
    }

    function ground({ context, marks, strips }) {
      if (palette.land) context.globalAlpha = 0.35;
      for (let kind = 1; kind < 4; kind++) {
        if (!marks.some((mark) => held(mark) === kind)) continue;
        context.fillStyle = palette.ground[kind - 1];
        context.beginPath();
        strips((cell) => held(marks[cell]) === kind);
        context.fill();
      }
      context.globalAlpha = 1;
    }

    function hatching({ context, view, marks, each }) {
      if (!marks.some((mark) => held(mark) === 3)) return;
      const step = hatched(view.scale);
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
        if (!marks.some((mark) => mark & bit)) return;
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

    /* What a cell looks like depends on what it holds, on its marks, on where the territories end around it, and where it
       is contested on its place in the hatching. */
    const alike = {
      phases: hatched,
      key({ cells, marks }, at, row, col, phases) {
        const mark = marks[at];
        const up = row ? held(mark ^ marks[at - cols]) : 0, down = row < rows - 1 ? held(mark ^ marks[at + cols]) : 0;
        const left = col ? held(mark ^ marks[at - 1]) : 0, right = col < cols - 1 ? held(mark ^ marks[at + 1]) : 0;
        const phase = held(mark) === 3 ? (row + col) % phases : 0;
        return cells[at] | mark << 3 | up << 11 | down << 13 | left << 15 | right << 17 | phase << 19;
      },
      around(key, phases, high, wide) {
        const cells = new Uint8Array(high * wide), marks = new Uint8Array(high * wide);
        const at = wide + 1 + Cellgames.mod((key >> 19) - 2, phases); // its row is 1, its column has that phase
        const mark = key >> 3 & 255;
        cells[at] = key & 7;
        marks[at] = mark;
        [at - wide, at + wide, at - 1, at + 1].forEach((beside, i) => { marks[beside] = held(mark ^ key >> 11 + 2 * i); });
        return { cells, marks, at };
      },
    };

    function unit(context, x, y, size, code) {
      const gap = size >= 6 ? size * 0.04 : 0;
      const [left, top] = [x + size / 2, y + size / 2], reach = size * (code === 4 ? 0.36 : 0.4);
      if (code === 1) context.rect(x + gap, y + gap, size - 2 * gap, size - 2 * gap);
      else if (code === 2) {
        context.moveTo(left + size / 2 - gap, top);
        context.arc(left, top, size / 2 - gap, 0, 2 * Math.PI);
      } else if (code === 4) cross(context, left, top, reach);
      else {
        trace(context, [left, top - reach], [left + reach, top], [left, top + reach], [left - reach, top]);
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
        if (!cells.includes(code)) continue;
        context[`${how}Style`] = colour;
        context.lineWidth = Math.max(1, view.scale * (code === 4 ? 0.22 : 0.16));
        context.beginPath();
        each((cell, x, y) => cells[cell] === code && unit(context, x, y, view.scale, code));
        context[how]();
      }
    }

    function placed({ context, view, marks, each }) {
      if (!marks.some((mark) => mark & layout.marks.placed)) return;
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
      land(brush);
      ground(brush);
      hatching(brush);
      grid(brush, palette.grid);
      edges(brush);
      units(brush);
      wards(brush);
      placed(brush);
    }

    const LANDS = ["", "water", "forest", "rock", "burnt ground", "fire"];

    return painter(layout, {
      dot: 0.08,
      holds(at, frame, { cells, marks }) {
        const { players } = layout, mark = marks[at];
        const animal = (frame.animals || []).find(([, cell]) => cell === at);
        return [
          ["empty", `unit of ${players[0]}`, `unit of ${players[1]}`, "neutral unit", "killed unit"][cells[at]],
          ["", `territory of ${players[0]}`, `territory of ${players[1]}`, "contested"][held(mark)],
          LANDS[landOf(mark)],
          animal && ["grazer", "hunter", "guard"][animal[0]],
          palette.wards && mark & 64 && `warded for ${players[0]}`,
          palette.wards && mark & 128 && `warded for ${players[1]}`,
          mark & layout.marks.placed && "placed this turn",
        ].filter(Boolean).join(", ");
      },
      pixel(code, mark) {
        if (code === 1 || code === 2) return rgb(palette.units[code - 1]);
        if (code === 3) return rgb(palette.neutral);
        if (code === 4) return rgb(palette.killed);
        const kind = held(mark);
        if (landOf(mark)) return rgb(palette.land[landOf(mark)]);
        if (kind === 3) return blend(palette.ground[0], palette.ground[2], 0.5);
        return rgb(kind ? palette.ground[kind - 1] : palette.world);
      },
      paint,
      alike,
      above: animals,
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
        const strips = (holds) => holds(0) && context.rect(0, 0, size, size);
        const brush = { context, view, cells: [code], marks: [marks], each, strips };
        land(brush);
        ground(brush);
        hatching(brush);
        if (code) units(brush);
        placed(brush);
        if (!palette.wards || !(marks & 192)) return;
        const corner = size * (0.5 - 2 * (marks & 64 ? 0.24 : 0.76)); // a ward alone fills the sample
        context.save();
        context.translate(corner, corner);
        context.scale(2, 2);
        wards(brush);
        context.restore();
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
      context.strokeStyle = born ? palette.ring : palette.rim;
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
      cross(context, x + size / 2, y + size / 2, 0.22 * size);
      context.stroke();
    }

    function corner(context, x, y, size) {
      context.beginPath();
      trace(context, ...[[0.03, 0.03], [0.34, 0.03], [0.03, 0.34]].map(([right, down]) => [x + right * size, y + down * size]));
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

    const sequence = (code) => (code - 1).toString(2).padStart(3, "0");
    const named = (found) => found.map((cell) => `row ${Math.floor(cell / layout.cols)}, column ${cell % layout.cols}`).join("; ");

    return painter(layout, {
      dot: 0.07,
      holds: (at, frame, { cells, marks }) => [
        cells[at] ? `tile ${sequence(cells[at])}` : "empty",
        marks[at] & bits.placed && "placed",
        marks[at] & bits.born && "new",
        marks[at] & bits.died && `tile ${ghostOf(marks[at]) ? sequence(ghostOf(marks[at])) : ""} died here`,
      ].filter(Boolean).join(", "),
      /* What is new on the board, in words. */
      changes(frame, { marks }) {
        const cells = [...marks.keys()];
        const [born, died] = [bits.born, bits.died].map((bit) => cells.filter((cell) => marks[cell] & bit));
        return [born.length && `New tiles: ${named(born)}.`, died.length && `Tiles that died: ${named(died)}.`].filter(Boolean).join(" ");
      },
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

    const quadrant = (row, col) => (2 * row >= rows ? (2 * col >= cols ? 2 : 3) : 2 * col >= cols ? 1 : 0);

    /** The name of a team: in a season its own, else that of its seat. */
    function teamName(team) {
      const name = layout.roster.teams[team].team;
      return (layout.seats || []).includes(name) ? layout.players[team] : name;
    }

    /** The player of a square of a team's roster, as envs/toroidal_cup/roster.py names it. */
    function player(square, team) {
      const { first, last, names, teams } = layout.roster;
      const number = (teams[team].step * square + teams[team].start) % names;
      const [given, rest] = [first[number % first.length], Math.floor(number / first.length)];
      const namesake = Math.floor(rest / last.length);
      const numeral = ["", " II", " III", " IV", " V", " VI", " VII", " VIII", " IX", " X", " XI", " XII"][namesake];
      return `${given} ${last[rest % last.length]}${numeral}`;
    }

    return painter(layout, {
      dot: 0.22,
      holds(at, frame, { cells }) {
        const team = cells[at], zone = frame.zones ? `, ${frame.zones[quadrant(Math.floor(at / cols), at % cols)]}` : "";
        if (!team) return `empty${zone}`;
        return `cell of ${layout.players[team - 1]}${layout.roster ? `, ${player(at, team - 1)}` : ""}${zone}`;
      },
      /* What each team has placed, in words. */
      changes(frame, { cells }) {
        return layout.players.map((name, team) => {
          const own = (frame.last || []).filter((cell) => cells[cell] === team + 1);
          const middle = own[own.length >> 1];
          return own.length ? `${name} placed a shape of ${own.length} cells around row ${Math.floor(middle / cols)}, column ` +
            `${middle % cols}.` : "";
        }).filter(Boolean).join(" ");
      },
      about(at, frame, planes) {
        const [row, col, team] = [Math.floor(at / cols), at % cols, planes.cells[at]];
        const where = `row ${row}, column ${col}${frame.zones ? `, ${frame.zones[quadrant(row, col)]}` : ""}`;
        return team && layout.roster ? `${player(at, team - 1)} of ${teamName(team - 1)}: ${where}` : where;
      },
      /* Borders and names of the quadrants. */
      above(context, view, frame, copies) {
        if (!frame.zones || cols * view.scale < 300) return;
        const [wide, high] = [cols * view.scale, rows * view.scale];
        context.save();
        context.strokeStyle = palette.line;
        context.setLineDash([3, 5]);
        context.fillStyle = palette.pale;
        context.font = "11px system-ui, sans-serif";
        for (const [right, down] of copies) {
          const [x, y] = view.place(right, down);
          context.beginPath();
          const [middle, half] = [Math.round(x + wide / 2) + 0.5, Math.round(y + high / 2) + 0.5];
          trace(context, [x, half], [x + wide, half]);
          trace(context, [middle, y], [middle, y + high]);
          context.stroke();
          frame.zones.forEach((name, index) => {
            const [east, south] = [index === 1 || index === 2, index > 1];
            context.textAlign = east ? "right" : "left";
            context.textBaseline = south ? "bottom" : "top";
            context.fillText(name, x + (east ? wide - 5 : 5), y + (south ? high - 4 : 4), wide / 2 - 10);
          });
        }
        context.restore();
      },
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
