/* Torus: octagons and squares, drawn as envs/torus/rendering.py does; the board has no edge, so it is drawn wherever
   one looks. Octagon (row, col) has its middle at (col + 0.5, row + 0.5); its square lies at its lower right corner. */
(function () {
  "use strict";
  const Cellgames = window.Cellgames;
  const HALF_SIDE = (Math.SQRT2 - 1) / 2; // of a cell's sides
  const HALF_DIAGONAL = 0.5 - HALF_SIDE; // of a square
  const QUARTERS = [[1, 0], [0, 1], [-1, 0], [0, -1]];
  const SQUARE = QUARTERS.map(([x, y]) => [x * HALF_DIAGONAL, y * HALF_DIAGONAL]);
  const OCTAGON = QUARTERS.flatMap(([x, y]) =>
    [-HALF_SIDE, HALF_SIDE].map((end) => [x / 2 - y * end, y / 2 + x * end]),
  );

  Cellgames.painters.torus = function (layout) {
    const n = layout.size;
    const colours = layout.palette;
    const square = (cell) => cell >= n * n;
    const stones = Cellgames.stonePainter(layout, square, (cell) => (square(cell) ? SQUARE : OCTAGON));

    function centre(cell) {
      const at = cell % (n * n);
      const half = square(cell) ? 1 : 0.5;
      return [(at % n) + half, Math.floor(at / n) + half];
    }

    /** Every copy of every cell in view: cell, and the middle of the copy. */
    function* inView(view) {
      for (let row = Math.floor(view.y0) - 1; row <= view.y1; row++) {
        for (let col = Math.floor(view.x0) - 1; col <= view.x1; col++) {
          const cell = Cellgames.mod(row, n) * n + Cellgames.mod(col, n);
          yield [cell, view.place(col + 0.5, row + 0.5)];
          yield [cell + n * n, view.place(col + 1, row + 1)];
        }
      }
    }

    function paintCells(context, view, cells) {
      const taken = [];
      for (const [cell, at] of inView(view)) {
        if (cells[cell]) taken.push([cell, at]);
        else stones.cell(context, cell, at, view.scale, 0);
      }
      for (const [cell, at] of taken) stones.cell(context, cell, at, view.scale, cells[cell]);
    }

    const steps = [[-HALF_SIDE, -0.5], [HALF_SIDE, -0.5], [0.5, -HALF_SIDE]]; // along the upper edge of an octagon

    /** Around a whole board whose first octagon is at column `left` and row `top`, along the edges of cells. */
    function edge(left, top) {
      const side = (along, over, swap) => {
        const points = [];
        for (let i = 0; i < n; i++)
          for (const [dx, dy] of steps) points.push([along + i + 0.5 + dx, over + 0.5 + dy]);
        return swap ? points.map(([x, y]) => [y, x]) : points;
      };
      return [
        ...side(left, top, false),
        ...side(top, left + n, true),
        ...side(left, top + n, false).reverse(),
        ...side(top, left, true).reverse(),
      ];
    }

    /** Where the board's opposite sides meet. */
    function paintSeam(context, view) {
      const lines = (low, high, across, end, swap) => {
        for (let seam = Math.floor(low / n) * n; seam <= high + 1; seam += n) {
          context.beginPath();
          for (let i = Math.floor(across) - 1; i <= end + 1; i++) {
            for (const [along, over] of steps) {
              const [x, y] = [i + 0.5 + along, seam + 0.5 + over];
              context.lineTo(...(swap ? view.place(y, x) : view.place(x, y)));
            }
          }
          context.setLineDash([]);
          context.strokeStyle = colours.paper;
          context.lineWidth = Math.max(1.5, 0.045 * view.scale);
          context.stroke();
          context.setLineDash([0.1 * view.scale, 0.1 * view.scale]);
          context.strokeStyle = colours.ink;
          context.stroke();
          context.setLineDash([]);
        }
      };
      context.lineJoin = "round";
      lines(view.y0, view.y1, view.x0, view.x1, false);
      lines(view.x0, view.x1, view.y0, view.y1, true);
    }

    /** A closed path: steps of cell, and how often the path has wound right and down when it gets there. */
    function paintPath(context, view, path) {
      const through = new Set(path.map((step) => step[0]));
      for (const [cell, at] of inView(view)) if (through.has(cell)) stones.pathCell(context, cell, at, view.scale);
      stones.pathLines(context, view.scale, () => {
        for (let i = 1; i < path.length; i++) {
          const [start, end] = [path[i - 1], path[i]];
          const [x, y] = centre(start[0]);
          const [x1, y1] = centre(end[0]);
          const [right, down] = [(end[1] - start[1]) * n, (end[2] - start[2]) * n];
          for (let a = Math.floor(view.x0 / n) * n - n; a <= view.x1 + n; a += n) {
            for (let b = Math.floor(view.y0 / n) * n - n; b <= view.y1 + n; b += n) {
              context.moveTo(...view.place(x + a, y + b));
              context.lineTo(...view.place(x1 + a + right, y1 + b + down));
            }
          }
        }
      });
    }

    function paintLast(context, view, cells, last) {
      const marked = new Set(last);
      for (const [cell, at] of inView(view)) if (marked.has(cell)) stones.last(context, cell, at, view.scale, cells[cell]);
    }

    return {
      ...stones.members,
      width: n,
      height: n,
      strip: layout.strip,
      faded: colours.faded,
      centre,
      edge,
      cellAt(x, y) {
        const [right, down] = [Math.round(x), Math.round(y)];
        if (Math.abs(x - right) + Math.abs(y - down) < HALF_DIAGONAL) {
          return n * n + Cellgames.mod(down - 1, n) * n + Cellgames.mod(right - 1, n);
        }
        return Cellgames.mod(Math.floor(y), n) * n + Cellgames.mod(Math.floor(x), n);
      },
      /* Left and right go through octagons and squares in turn, up and down stay with the kind. */
      step(cell, way) {
        const at = cell % (n * n);
        let [row, col, kind] = [Math.floor(at / n), at % n, square(cell) ? 1 : 0];
        if (way === "Right") [kind, col] = kind ? [0, col + 1] : [1, col];
        else if (way === "Left") [kind, col] = kind ? [0, col] : [1, col - 1];
        else row += way === "Down" ? 1 : -1;
        return kind * n * n + Cellgames.mod(row, n) * n + Cellgames.mod(col, n);
      },
      grid: Cellgames.BoardReader.gridOf(Array.from({ length: n }, (_, row) =>
        Array.from({ length: 2 * n }, (_, col) => (col % 2) * n * n + row * n + (col >> 1)))),
      column: (number) => String.fromCharCode(97 + number),
      row: (number) => String(number + 1),
      paint(context, view, frame, planes) {
        paintCells(context, view, planes.cells);
        paintSeam(context, view);
        if (frame.path) paintPath(context, view, frame.path);
        paintLast(context, view, planes.cells, frame.last || []);
      },
    };
  };
})();
