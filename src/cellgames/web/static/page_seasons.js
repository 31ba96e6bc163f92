// Seasons of the results folder: standings, bracket, schedule, and every game to watch.
"use strict";
(() => {
  const app = Cellgames.app;
  const { el, clear, api } = app;

  const address = (folder) => `#/season?${new URLSearchParams({ folder })}`;
  const number = (value) => (typeof value === "number" ? String(Math.round(value * 1000) / 1000) : "–");
  const text = (value) => String(value ?? "").slice(0, 200);

  // The columns of standings, those that a season has: name, head, how it is shown.
  const COLUMNS = [
    ["rank", "rank", number], ["team", "team", text], ["wins", "wins", number], ["losses", "losses", number],
    ["games", "games", number], ["points", "points", number],
    ["rolls", "die", (rolls) => (rolls || []).flat().join(" ")],
  ];

  // The second column names the row.
  const table = (heads, rows) => app.cards("standings", heads, rows.map((row) => row.map((cell, place) => (
    place === 1 ? el("th", { scope: "row" }, cell) : el("td", { class: /^[-\d.–]+$/.test(cell.textContent ?? cell) ? "number" : "" },
      cell)))));

  const standings = (lines) => {
    const columns = COLUMNS.filter(([name]) =>
      lines.some((line) => (Array.isArray(line[name]) ? line[name].flat().length : line[name] !== undefined && line[name] !== "")));
    return table(columns.map(([, head]) => head), lines.map((line) => columns.map(([name, , shown]) => shown(line[name]))));
  };

  // A game in a line: the winner's score is bold, and the whole leads to the viewer.
  const link = (season, game, label) => el("a", { href: `#/watch?${new URLSearchParams({ file: season.file, number: game.number })}` },
    label);

  const scored = (season, game) => link(season, game, (game.teams || game.agents).map((team, seat) => {
    const words = `${text(team)} ${number(game.scores[seat])}`;
    return [seat ? el("span", {}, game.scores.length > 2 ? ", " : " : ") : null, game.outcome[seat] === "win" ? el("b", {}, words) : words];
  }));

  // The box of a series of the playoffs.
  const box = (season, series, seeds) => {
    const results = Array.isArray(series.results) ? series.results : [];
    const played = results.map((result, place) => season.games.find((game) => game.stage === series.key && game.round === place + 1
      && game.attempt === result.attempts - 1));
    return el("table", { class: "series" },
      el("caption", {}, `${text(series.league) || text(series.round)}, best of ${number(series.best_of)}`),
      el("tbody", {}, series.teams.map((team, row) => el("tr", { class: series.winner === team ? "won" : "" },
        el("th", { scope: "row" }, el("small", {}, `${seeds.get(team) ?? ""} `), text(team)),
        results.map((result, place) => {
          const score = number(result.scores[result.teams.indexOf(team)]);
          const shown = result.winner === team ? el("b", {}, score) : score;
          return el("td", { class: "number" }, played[place] ? link(season, played[place], shown) : shown);
        }),
        el("td", { class: "number wins" }, number(series.wins[row]))))));
  };

  const bracket = (season) => {
    const { series, seeds, champion, agent } = season.bracket;
    const seeded = new Map(Object.values(seeds).flatMap((names) => names.map((name, place) => [name, place + 1])));
    const rounds = [...new Set(series.map((one) => one.round))];
    return el("section", { class: "panel" }, el("h2", {}, "Playoffs"), el("p", { class: "champion" }, "Champion: ",
      el("b", {}, text(champion)), agent ? `, played by ${text(agent)}` : ""),
      el("p", { class: "hint" }, "Choose a score to watch that game."),
      el("div", { class: "scroll" },
        el("div", { class: "bracket" }, rounds.map((round) => el("div", { class: "round" }, el("h3", {}, text(round)),
        series.filter((one) => one.round === round).map((one) => box(season, one, seeded)))))));
  };

  // Games by stage: the days with all that is still to be played, and what came after them.
  const schedule = (season) => {
    const stages = new Map();
    for (const [day] of ((season.schedule || {}).days || []).entries()) stages.set(`day ${day + 1}`, []);
    for (const game of season.games) {
      const stage = game.stage || "matches";
      stages.set(stage, [...(stages.get(stage) || []), game]);
    }
    const planned = (stage) => {
      const day = /^day (\d+)$/.exec(stage);
      return day && season.schedule ? season.schedule.days[Number(day[1]) - 1] || [] : [];
    };
    return el("section", { class: "panel" }, el("h2", {}, "Games"),
      [...stages].map(([stage, games], place) => el("details", { open: place === 0 },
      el("summary", {}, `${stage[0].toUpperCase()}${stage.slice(1)}`),
      el("ul", { class: "files" }, games.length
        ? games.map((game) => el("li", {}, scored(season, game), game.attempt ? el("small", {}, ` replay ${game.attempt}`) : null,
          game.forfeit ? el("small", {}, " forfeit") : null))
        : planned(stage).map((teams) => el("li", {}, teams.map(text).join(" v ")))))));
  };

  const leagues = (season) => {
    const lines = (season.standings || {}).standings || [];
    const groups = new Map();
    for (const line of lines) {
      const group = line.league ? `${line.league}, ${line.division}` : "";
      groups.set(group, [...(groups.get(group) || []), line]);
    }
    return lines.length > 0 && el("section", { class: "panel" }, el("h2", {}, "Standings"),
      [...groups].map(([group, found]) => [group ? el("h3", {}, group) : null, standings(found)]));
  };

  const about = ({ settings, bracket: ended }) => {
    const champion = (ended || {}).champion;
    return el("p", { class: "lead" }, `${app.plural(settings.teams.length, "team")}, seed ${text(settings.seed)}.`,
      champion ? ` ${text(champion)} is the champion.` : " It is not over yet.");
  };

  app.route(/^seasons$/, async (main, _, query, current) => {
    document.title = "Seasons · Cellgames";
    const [found, games] = await Promise.all([api("/api/seasons"), app.games()]);
    if (!current()) return null;
    clear(main, el("h1", {}, "Seasons"), el("section", { class: "panel" }, found.length
      ? app.listed(found.map((one) =>
      ({ ...one, title: `Season of ${app.titleOf(games, one.game)}`,
        address: address(one.folder), name: one.folder, result: one.champion })), "Champion")
      : el("p", {}, "There is none in the results folder yet. ", el("code", {}, "cellgames season torus-small-v0 --agents random greedy"),
      " plays one.")));
    return null;
  });

  app.route(/^season$/, async (main, _, query, current) => {
    const [season, games] = await Promise.all([api(`/api/season?${new URLSearchParams({ folder: query.get("folder") || "" })}`),
      app.games()]);
    if (!current()) return null;
    document.title = "Season · Cellgames";
    clear(main, el("p", {}, el("a", { href: "#/seasons" }, "← All seasons")),
      el("h1", { title: season.folder }, `Season of ${app.titleOf(games, text(season.settings.game))}`),
      about(season), season.bracket && bracket(season), leagues(season),
        season.games.length || season.schedule ? schedule(season) : null);
    return null;
  });
})();
