// A bot for Torus in JavaScript: cellgames evaluate torus-v0 --agents "exec:node bot.js" random
//
// It fills the board at random many times and takes the cell that is most often its own in boards that it wins.
// Messages: docs/bots.md.
"use strict";

const FILLS = 200;

function random(seed) { // mulberry32, seeded by the message, so that a game can be repeated
  let state = Number(BigInt(seed) % 4294967296n);
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return (((t ^ (t >>> 14)) >>> 0) * below) / 4294967296 | 0;
  };
}

// The neighbours of each cell, and how often the way there crosses the right and the lower edge: octagons, then squares.
function layOut(n) {
  const rings = Array.from({ length: 2 * n * n }, () => []);
  const link = (from, kind, row, col) =>
    rings[from].push({
      cell: kind * n * n + ((row + n) % n) * n + ((col + n) % n),
      right: Math.floor(col / n),
      down: Math.floor(row / n),
    });
  for (let row = 0; row < n; row++)
    for (let col = 0; col < n; col++) {
      const octagon = row * n + col;
      for (const [r, c] of [[0, 1], [0, -1], [1, 0], [-1, 0]]) link(octagon, 0, row + r, col + c);
      for (const [r, c] of [[0, 0], [0, 1], [1, 0], [1, 1]]) {
        link(octagon, 1, row - r, col - c);
        link(n * n + octagon, 0, row + r, col + c);
      }
    }
  return rings;
}

// Does a group of the colour (1 Black, 2 White) on a full board hold a path around the torus that wins for it?
function wins(rings, board, colour) {
  const place = new Map();
  for (let first = 0; first < board.length; first++) {
    if (board[first] !== colour || place.has(first)) continue;
    place.set(first, [0, 0]);
    let known = null;
    const queue = [first];
    for (const cell of queue)
      for (const edge of rings[cell]) {
        if (board[edge.cell] !== colour) continue;
        let [right, down] = place.get(cell);
        right += edge.right;
        down += edge.down;
        const before = place.get(edge.cell);
        if (before === undefined) {
          place.set(edge.cell, [right, down]);
          queue.push(edge.cell);
          continue;
        }
        right -= before[0]; // how often the closed path winds right and down
        down -= before[1];
        if (right === 0 && down === 0) continue;
        if (colour === 1 ? down !== 0 && right * down >= 0 : right !== 0 && right * down <= 0) return true;
        if (known !== null && known[0] * down !== known[1] * right) return true; // not parallel: all ways there are
        known = [right, down];
      }
  }
  return false;
}

let rings = null;

function choose(message) {
  const [octagons, squares, player] = message.position.split(" ");
  const start = [...(octagons + squares).replaceAll("/", "")].map((mark) => ".xo".indexOf(mark));
  const mover = player === "b" ? 1 : 2;
  const draw = random(message.seed);
  const empty = message.legal[0].slice();
  const own = new Array(start.length).fill(0), won = new Array(start.length).fill(0);
  const half = (empty.length + 1) >> 1;
  for (let fill = 0; fill < FILLS; fill++) {
    const board = start.slice();
    for (let k = 0; k < empty.length; k++) { // the first half of the empty cells, in random order, is the mover's
      const other = k + draw(empty.length - k);
      [empty[k], empty[other]] = [empty[other], empty[k]];
      board[empty[k]] = k < half ? mover : 3 - mover;
    }
    const win = wins(rings, board, mover) ? 1 : 0;
    for (let k = 0; k < half; k++) {
      own[empty[k]]++;
      won[empty[k]] += win;
    }
  }
  return empty.reduce((best, cell) => (won[cell] * own[best] > won[best] * own[cell] ? cell : best));
}

function answer(message) {
  if (message.type === "hello") {
    if (message.game !== "torus-v0") return { type: "error", message: "this bot plays torus-v0" };
    rings = layOut(message.parameters.size);
    return { type: "ready", protocol: 1, name: "torus in JavaScript" };
  }
  return message.type === "act" ? { type: "action", id: message.id, action: choose(message) } : null;
}

require("readline")
  .createInterface({ input: process.stdin })
  .on("line", (line) => {
    const message = JSON.parse(line);
    if (message.type === "quit") process.exit(0);
    const reply = answer(message);
    if (reply !== null) process.stdout.write(JSON.stringify(reply) + "\n");
  });
