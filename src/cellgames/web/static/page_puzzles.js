// Puzzles: positions that one move only wins, missed in analysed games or out of stored ones. The browser keeps them, and a rating
// of the player.
"use strict";
(() => {
  const app = Cellgames.app;
  const { el, clear } = app;
  const KEY = "cellgames.puzzles", MOST = 100;
  const USUAL = 1200, STEP = 32; // ratings at first, and how far a puzzle moves them
  const WON = 0.85, LOST = 0.5; // win chances after the move that wins at least, and after the next best at most

  const read = () => ({ rating: USUAL, tried: 0, solved: 0, puzzles: [], ...app.kept(KEY) });

  /** Keep a position as a puzzle if the player has missed the win, and the search knows one move only that wins. */
  app.keepPuzzle = ({ game, parameters }, { place: { position }, found }, { best, chance_best: won, chance_played: lost }, engine) => {
    const other = found[engine].lines[1];
    if (won >= WON && lost <= LOST && (!other || other.chance <= LOST)) add({ game, parameters, position, best });
  };

  function add(puzzle) {
    const own = read(), known = own.puzzles.some(({ position }) => position === puzzle.position);
    if (!known) app.keep(KEY, { ...own, puzzles: [...own.puzzles, { ...puzzle, rating: USUAL, tried: 0 }].slice(-MOST) });
  }

  // Ratings as in chess: who solves a hard puzzle wins more.
  const rate = ({ position }, solved) => {
    const own = read(), puzzle = own.puzzles.find((one) => one.position === position);
    const change = STEP * (Number(solved) - 1 / (1 + 10 ** ((puzzle.rating - own.rating) / 400)));
    own.rating += change;
    puzzle.rating -= change;
    own.tried++;
    puzzle.tried++;
    own.solved += Number(solved);
    app.keep(KEY, own);
  };

  app.route(/^puzzles$/, async (main, _, query, current) => {
    document.title = "Puzzles · Cellgames";
    if (!read().puzzles.some((one) => !one.tried)) {
      app.waitFor(main, "Looking for a puzzle in stored games");
      const found = await app.api("/api/puzzle").catch(() => null); // those that are kept serve as well
      if (!current()) return null;
      if (found) add(found);
    }
    const { rating, tried, solved, puzzles } = read(), [puzzle] = puzzles.sort((a, b) => a.tried - b.tried);
    if (!puzzle) {
      clear(main, el("h1", {}, "Puzzles"), el("p", {}, "No puzzles yet. ", el("a", { href: "#/watch" }, "Analyse a game"),
        ": a win that was missed becomes a puzzle here, if only one move won. So do positions of the games in the store."));
      return null;
    }
    const title = `Puzzles: your rating is ${Math.round(rating)}, ${solved} of ${tried} solved at the first try.`;
    const source = { ...puzzle, key: `puzzle ${puzzle.position}`, title, moves: [], names: null, line: null, seed: "0", puzzle: true };
    return app.analysed(main, source, current, (page) =>
      page.learn([{ parent: page.tree.root, move: null, review: { best: puzzle.best } }], (found) => rate(puzzle, found)));
  });
})();
