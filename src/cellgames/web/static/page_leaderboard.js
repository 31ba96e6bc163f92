// Ratings with intervals, Nash averaging and who beats whom, a section for each game and its settings.
"use strict";
(() => {
  const app = Cellgames.app;
  const { el, clear, api, svg } = app;

  const percent = (share, digits = 0) => (share === null || share === undefined ? "–" : `${(100 * share).toFixed(digits)} %`);
  const elo = (value) => (value === null || value === undefined ? "–" : String(Math.round(value)).replace("-", "−"));

  // Columns, where a board has them, and what they mean.
  const SHOWN = {
    score: "", mean_place: "",
    nash: "how often the agent plays in a mixture of agents that no agent beats; 0 % for agents that others make superfluous",
    games: "", seats: "",
  };

  // A number in the format of its column, as Python writes it.
  const formatted = (value, form) => {
    if (value === null || value === undefined) return "–";
    if (form === "%") return percent(value, 1);
    return form.endsWith("f") ? value.toFixed(Number(form.match(/\d+/)[0])).replace("-", "−") : String(value);
  };

  // A rating and its interval on the scale of the whole table.
  const bar = (line, low, high) => {
    const x = (value) => 4 + 192 * (value - low) / (high - low || 1);
    const root = svg("svg", { viewBox: "0 0 200 18", class: "rating", role: "img",
      "aria-label": `${elo(line.elo)}, from ${elo(line.elo_low)} to ${elo(line.elo_high)}` });
    if (low < 0 && high > 0) root.append(svg("line", { x1: x(0), x2: x(0), y1: 0, y2: 18, class: "zero" }));
    if (line.elo_low !== null && line.elo_high !== null) {
      root.append(svg("rect", { x: x(line.elo_low), y: 7, width: Math.max(1, x(line.elo_high) - x(line.elo_low)), height: 4, rx: 2,
        class: "interval" }));
    }
    root.append(svg("circle", { cx: x(line.elo), cy: 9, r: 4.5, class: "point" }));
    return root;
  };

  const ratings = (board) => {
    const known = board.agents.flatMap((line) => [line.elo, line.elo_low, line.elo_high]).filter((value) => value !== null);
    const low = Math.min(0, ...known), high = Math.max(0, ...known);
    const number = (text) => el("td", { class: "number" }, text);
    const range = (line) => (line.elo_low === null || line.elo_high === null ? null
      : el("small", { class: "range" }, `${elo(line.elo_low)} to ${elo(line.elo_high)}`));
    const shownColumns = Object.keys(SHOWN).map((name) => board.columns.find((column) => column.name === name)).filter(Boolean);
    const columns = [ // head and cell
      ["", (line) => number(line.rank)],
      ["agent", (line) => el("th", { scope: "row", title: line.agent }, app.shortened(line.agent, 36))],
      ["rating", (line) => number(elo(line.elo))],
      [`${Math.round(100 * board.level)} % interval`, (line) => el("td", { class: "whole" }, bar(line, low, high), range(line))],
      ...shownColumns.map(({ name, label, shown }) => [label.replace(" %", ""), (line) => number(formatted(line[name], shown))]),
    ];
    return [app.cards("ratings", columns.map(([head]) => head), board.agents.map((line) => columns.map(([, cell]) => cell(line)))),
      shownColumns.map(({ name, label }) => SHOWN[name] && el("p", { class: "hint" }, el("b", {}, label.replace(" %", "")),
        `: ${SHOWN[name]}.`))];
  };

  const cross = (board) => {
    const agents = board.agents.map((line) => line.agent);
    const pairs = new Map(board.pairs.map((pair) => [JSON.stringify([pair.agent, pair.opponent]), pair]));
    const cell = (agent, opponent) => {
      const pair = pairs.get(JSON.stringify([agent, opponent]));
      if (!pair || pair.score === null) return el("td", { class: "none" }, agent === opponent ? "" : "–");
      const made = el("td", { class: "heat",
        title: `${agent} against ${opponent}: ${pair.wins} won, ${pair.draws} drawn, ${pair.losses} lost` }, Math.round(100 * pair.score));
      const strength = Math.abs(pair.score - 0.5) * 1.2; // pale enough for the ink
      made.style.background = `color-mix(in srgb, ${pair.score >= 0.5 ? "#0072b2" : "#d55e00"} ${Math.round(100 * strength)}%, ` +
        `var(--cg-panel))`;
      return made;
    };
    return app.cards("cross", ["", ...agents.map((_, place) => String(place + 1))], agents.map((agent, place) => [
      el("th", { scope: "row", title: agent }, `${place + 1} ${app.shortened(agent, 28)}`),
        ...agents.map((opponent) => cell(agent, opponent))]),
    "Each agent's score against the others, by their numbers, in %");
  };

  const section = (games) => (board) => {
    return el("section", { class: "panel" }, el("h2", {}, app.titleOf(games, board.game)),
      el("p", { class: "hint" }, app.settingsOf(games, board.game, board.parameters)),
      el("p", {}, `${app.plural(board.games, "game")} (${board.distinct} different). A difference of 400 Elo means odds of ten to ` +
        `one. ${board.anchor === null ? "The mean of all agents" : `The rating of ${board.anchor}`} is 0.`),
      ratings(board), el("h3", {}, "Who beats whom"), cross(board),
      board.cycles.length > 0 && el("div", {}, el("h3", {}, "Cycles"), el("ul", {}, board.cycles.map((cycle) => el("li", {},
        [...cycle.agents, cycle.agents[0]].map((agent, place) => (place ? ` beats (${percent(cycle.scores[place - 1])}) ${agent}` : agent))
          .join(""))))),
      board.notes.length > 0 && el("details", {}, el("summary", {}, "Notes"), el("ul", {}, board.notes.map((note) => el("li", {}, note)))));
  };

  app.route(/^leaderboard$/, async (main, _, query, current) => {
    document.title = "Leaderboard · Cellgames";
    app.waitFor(main, "Ratings are computed");
    const [{ store, boards }, games] = await Promise.all([api("/api/leaderboard"), app.games()]);
    if (!current()) return null;
    const names = [...new Set(boards.map((board) => board.game))];
    const wanted = query.get("game");
    const shown = boards.filter((board) => !wanted || board.game === wanted);
    clear(main, el("h1", {}, "Leaderboard"),
      names.length > 1 && el("p", { class: "tabs" },
        el("a", { class: "button", href: "#/leaderboard", "aria-current": wanted ? null : "true" }, "All"),
        names.map((name) => el("a", { class: "button", href: `#/leaderboard?game=${encodeURIComponent(name)}`,
          "aria-current": wanted === name ? "true" : null }, app.titleOf(games, name)))),
      shown.length ? shown.map(section(games)) : el("section", { class: "panel" },
        el("p", {}, store === null ? "The server was started without a store of games." : "The store of games is empty."),
        el("p", {}, "Runs add their games to it, for example ", el("code", {},
          "cellgames round-robin torus-small-v0 --agents random greedy rollout:32"),
          ". You can also add a game that you have played here. ",
          el("code", {}, "cellgames leaderboard --add FOLDER"), " adds earlier runs.")));
    return null;
  });
})();
