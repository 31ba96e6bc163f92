/* Boards with edges on which stones stand on cells of any form (Hex, Y): Python gives the middle and the form of each
   cell, and the sides. As envs/connection/rendering.py draws them. */
(function () {
  "use strict";
  const Cellgames = window.Cellgames;
  const EDGE_WIDTH = [0.03, 0.05, 0.05];

  /** What boards of stones share. `small(cell)` says if a cell is a square between octagons, `corners(cell)` lists its
      corners around its middle. */
  Cellgames.stonePainter = function (layout, small, corners) {
    const colours = layout.palette;

    function trace(context, cell, [x, y], scale) {
      context.beginPath();
      for (const [dx, dy] of corners(cell)) context.lineTo(x + dx * scale, y + dy * scale);
      context.closePath();
    }

    return {
      cell(context, cell, at, scale, owner) {
        trace(context, cell, at, scale);
        context.fillStyle = owner === 0 && small(cell) ? colours.square : colours.fill[owner];
        context.fill();
        context.strokeStyle = colours.edge[owner];
        context.lineWidth = Math.max(0.75, EDGE_WIDTH[owner] * scale);
        context.stroke();
      },
      /** The edge of a stone on the path that won. */
      pathCell(context, cell, at, scale) {
        context.strokeStyle = colours.path;
        context.lineWidth = 0.07 * scale;
        trace(context, cell, at, scale);
        context.stroke();
      },
      /** The path's lines; `lines(context)` moves along them. */
      pathLines(context, scale, lines) {
        context.lineCap = "round";
        for (const [colour, width] of [[colours.paper, 0.23], [colours.path, 0.15]]) {
          context.strokeStyle = colour;
          context.lineWidth = width * scale;
          context.beginPath();
          lines(context);
          context.stroke();
        }
        context.lineCap = "butt";
      },
      /** The ring on the last stone. */
      last(context, cell, [x, y], scale, owner) {
        context.beginPath();
        context.arc(x, y, (small(cell) ? 0.12 : 0.17) * scale, 0, 2 * Math.PI);
        context.strokeStyle = colours.mark[owner];
        context.lineWidth = 0.07 * scale;
        context.stroke();
      },
      /** Members of a painter. */
      members: {
        snaps: false,
        dot: 0.055,
        dotColour: `${colours.ink}99`,
        describe: (cell) => layout.names[cell],
        holds: (cell, frame, planes) => (planes.cells[cell] ? `${layout.players[planes.cells[cell] - 1]} stone` : "free"),
        outline(context, cell, at, view, how) {
          trace(context, cell, at, view.scale * 0.94);
          context[how]();
        },
        sample(context, size, code) {
          trace(context, 0, [size / 2, size / 2], size * 0.9);
          context.fillStyle = colours.fill[code];
          context.fill();
          context.strokeStyle = colours.edge[code];
          context.stroke();
        },
      },
    };
  };

  Cellgames.painters.stones = function (layout) {
    const { centres, forms, kinds, palette: colours } = layout;
    const stones = Cellgames.stonePainter(layout, (cell) => kinds[cell] === 1, (cell) => forms[kinds[cell]]);

    function paintSides(context, view) {
      context.lineCap = "round";
      for (const width of [0.3, 0.22]) {
        for (const [x0, y0, x1, y1, owner] of layout.sides) {
          context.strokeStyle = width === 0.3 ? colours.ink : colours.side[owner];
          context.lineWidth = width * view.scale;
          context.beginPath();
          context.moveTo(...view.place(x0, y0));
          context.lineTo(...view.place(x1, y1));
          context.stroke();
        }
      }
      context.lineCap = "butt";
    }

    function paintCells(context, view, cells) {
      for (const taken of [false, true]) {
        centres.forEach((centre, cell) => {
          if (cells[cell] > 0 === taken) stones.cell(context, cell, view.place(...centre), view.scale, cells[cell]);
        });
      }
    }

    /** Links between stones: pairs of cells. */
    function paintPath(context, view, path) {
      for (const cell of new Set(path.flat())) stones.pathCell(context, cell, view.place(...centres[cell]), view.scale);
      stones.pathLines(context, view.scale, () => {
        for (const [one, other] of path) {
          context.moveTo(...view.place(...centres[one]));
          context.lineTo(...view.place(...centres[other]));
        }
      });
    }

    function paintLast(context, view, cells, last) {
      for (const cell of last) stones.last(context, cell, view.place(...centres[cell]), view.scale, cells[cell]);
    }

    function paintLabels(context, view) {
      context.fillStyle = colours.ink;
      context.font = `${Math.max(7, 0.36 * view.scale)}px system-ui, sans-serif`;
      context.textAlign = "center";
      context.textBaseline = "middle";
      for (const [x, y, label] of layout.labels) context.fillText(label, ...view.place(x, y));
    }

    function inside(cell, x, y) {
      const [left, top] = centres[cell];
      const corners = forms[kinds[cell]];
      let odd = false;
      corners.forEach(([x1, y1], i) => {
        const [x0, y0] = corners[(i + corners.length - 1) % corners.length];
        const across = ((x1 - x0) * (y - top - y0)) / (y1 - y0) + x0;
        if (y1 > y - top !== y0 > y - top && x - left < across) odd = !odd;
      });
      return odd;
    }

    /** Cells in lines from above to below. */
    function lines() {
      const heights = [...new Set(centres.map(([, y]) => y.toFixed(2)))].sort((a, b) => a - b);
      return heights.map((height) => centres.map((_, cell) => cell).filter((cell) => centres[cell][1].toFixed(2) === height)
        .sort((a, b) => centres[a][0] - centres[b][0]));
    }

    return {
      ...stones.members,
      width: layout.width,
      height: layout.height,
      strip: 0,
      centre: (cell) => centres[cell],
      cellAt(x, y) {
        const cell = centres.findIndex((_, place) => inside(place, x, y));
        return cell < 0 ? null : cell;
      },
      /* The nearest cell in that direction; the same one at the end of the board. */
      step(cell, way) {
        const [right, down] = { Right: [1, 0], Left: [-1, 0], Down: [0, 1], Up: [0, -1] }[way];
        const [x, y] = centres[cell];
        let best = cell, least = Infinity;
        centres.forEach(([x1, y1], other) => {
          const along = (x1 - x) * right + (y1 - y) * down, beside = Math.abs((x1 - x) * down) + Math.abs((y1 - y) * right);
          if (along > 0.3 && beside <= along && along + 2 * beside < least) [best, least] = [other, along + 2 * beside];
        });
        return best;
      },
      grid: Cellgames.BoardReader.gridOf(lines()),
      links: true, // a path is pairs of cells
      column: () => "", // the rows of hexagons are slanted: see `labels`
      row: () => "",
      paint(context, view, frame, planes) {
        paintSides(context, view);
        paintCells(context, view, planes.cells);
        if (frame.path) paintPath(context, view, frame.path);
        paintLast(context, view, planes.cells, frame.last || []);
        paintLabels(context, view);
      },
    };
  };
})();
