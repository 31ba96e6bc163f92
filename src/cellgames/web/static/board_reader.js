/* What screen readers read of a board: a grid of cells in words inside the canvas, which no one else sees. Of a large
   board it holds the part around the cell that is read; row and column numbers are those of the whole. */
(function () {
  "use strict";
  const Cellgames = window.Cellgames;
  const { element } = Cellgames;
  const MOST = 600; // cells of boards that are held as a whole
  const [HIGH, WIDE] = [7, 15]; // cells to each side of the one that is read
  const WAIT = 150; // milliseconds without a new picture before the words follow; films are quicker
  let count = 0;

  class BoardReader {
    constructor(board) {
      this.board = board;
      this.name = `cg-board-${++count}`;
      this.timer = 0;
      board.canvas.setAttribute("role", "grid");
    }

    /** The board has another picture. */
    update() {
      const { canvas, frame, layout, onCell } = this.board;
      canvas.setAttribute("aria-label", `${layout.title}: ${frame.status}`);
      canvas.setAttribute("aria-readonly", String(!onCell));
      if (!canvas.firstChild) this.fill();
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.fill(), WAIT);
    }

    /** Hold no words, until the board has another picture. */
    clear() {
      clearTimeout(this.timer);
      this.board.canvas.replaceChildren();
    }

    /** Read a cell aloud; null for none. */
    read(cell) {
      const { canvas } = this.board;
      if (cell === null) return canvas.removeAttribute("aria-activedescendant");
      this.fill(); // what it holds now
      canvas.setAttribute("aria-activedescendant", `${this.name}-${cell}`);
    }

    /** A cell in words: where it is, what it holds, and whether the person can play there. */
    words(cell) {
      const { painter, frame, legal, onCell } = this.board;
      const parts = [painter.holds(cell, frame, Cellgames.planes(frame))];
      if ((frame.last || []).includes(cell)) parts.push("last move");
      if (this.path.has(cell)) parts.push("on the winning path");
      if (onCell && legal && legal.has(cell)) parts.push("you can play here");
      return `${painter.describe(cell)}: ${parts.join(", ")}`;
    }

    fill() {
      const { board, board: { canvas, painter, frame } } = this;
      if (!frame) return;
      const { rows, cols, cell: cellOf, place } = painter.grid;
      const [row, col] = place(board.cursor ?? (frame.last || [])[0] ?? board.first());
      const whole = rows * cols <= MOST;
      const part = (at, reach, all) => {
        const first = whole ? 0 : Math.max(0, Math.min(at - reach, all - 2 * reach - 1));
        return Array.from({ length: Math.min(all, whole ? all : 2 * reach + 1) }, (_, i) => first + i);
      };
      this.path = new Set((frame.path || []).flatMap((step) => (painter.links ? step : step[0])));
      canvas.setAttribute("aria-rowcount", rows);
      canvas.setAttribute("aria-colcount", cols);
      const across = part(col, WIDE, cols);
      canvas.replaceChildren(...part(row, HIGH, rows).map((down) => element("div", { role: "row", "aria-rowindex": down + 1 },
        ...across.map((along) => [along, cellOf(down, along)]).filter(([, cell]) => cell !== null).map(([along, cell]) =>
          element("div", { role: "gridcell", "aria-colindex": along + 1, id: `${this.name}-${cell}` }, this.words(cell))))));
    }
  }

  /** A grid of rows of cells of different lengths. */
  BoardReader.gridOf = function (lines) {
    const places = new Map(lines.flatMap((line, row) => line.map((cell, col) => [cell, [row, col]])));
    return {
      rows: lines.length,
      cols: Math.max(...lines.map((line) => line.length)),
      cell: (row, col) => lines[row][col] ?? null,
      place: (cell) => places.get(cell),
    };
  };

  Cellgames.BoardReader = BoardReader;
})();
