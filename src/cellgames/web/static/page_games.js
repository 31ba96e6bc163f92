// The games that were begun here: the landing page shows those that go on, and a page lists all of them.
"use strict";
(() => {
  const app = Cellgames.app;
  const { el, clear, api } = app;
  const KEY = "cellgames.games";
  const MOST = 150; // ids that the browser remembers: the server asks for them where others play there, too
  const BOARDS = 3; // that the landing page shows

  const read = () => app.kept(KEY) || [];
  const write = (ids) => app.keep(KEY, ids.slice(0, MOST));

  app.remember = (id) => write([id, ...read().filter((other) => other !== id)]);

  app.forget = async (id) => {
    await api(`/api/play/${encodeURIComponent(id)}`, undefined, "DELETE");
    write(read().filter((other) => other !== id));
  };

  // The links of a game for the other people; null in other games.
  app.invitation = ({ links, origin, layout }) => {
    if (!Object.keys(links).length) return null;
    const line = ([player, address]) => el("p", { class: "buttons" }, el("span", {}, player),
      app.copied(`Link for ${player}`, `${origin || location.origin}/#/game/${address}`));
    return el("details", { class: "panel invitation", open: true }, el("summary", {}, "Links for the others"),
      el("p", { class: "hint" }, `Whoever has a link plays ${layout.title} in that seat.`), Object.entries(links).map(line),
      !origin && /^(localhost|127\.|\[::1)/.test(location.host) && el("p", { class: "hint" }, "Only this computer reaches the page; ",
        el("code", {}, "cellgames serve --invite"), " opens it to your network."));
  };

  const played = () => api(`/api/play?${new URLSearchParams({ ids: read().join(",") })}`);

  const link = (game, ...words) => el("a", { href: `#/game/${game.id}` }, ...words);
  const rivals = (game) => game.names.map((name) => (name === null ? "a person" : app.shortened(name, 24)))
    .filter((name, seat, all) => all.indexOf(name) === seat).join(" – ");
  const when = (game) => app.when(game.time);
  const ended = (game) => {
    if (!game.outcome) return "goes on";
    const won = game.players.filter((_, seat) => game.outcome[seat] === "win");
    return won.length ? `${won.join(" and ")} won` : "a draw";
  };

  // What a person sees of a game; no frame while somebody else is at the screen.
  const position = async ({ id }) => {
    const { about: { layout }, view: { frame } } = await api(`/api/play/${encodeURIComponent(id)}`);
    return { layout, frame };
  };

  // Fill a place with the games of people that go on, the newest with their boards.
  app.goOn = async (place, current) => {
    const found = (await played()).filter((game) => !game.outcome && game.turns && game.names.includes(null));
    if (!current() || !found.length) return;
    clear(place, el("h2", {}, found.length > 1 ? "Go on with your games" : "Go on with your game"),
      el("div", { class: "cards" }, found.slice(0, BOARDS).map((game) => el("a", { class: "panel go-on", href: `#/game/${game.id}` },
        app.little(() => position(game), 180), el("strong", {}, game.title),
        el("small", {}, `${rivals(game)}, ${app.plural(game.turns, "turn")}`)))),
      el("p", {}, el("a", { href: "#/games" }, "All your games")));
  };

  app.route(/^games$/, async (main, _, query, current) => {
    document.title = "Your games · Cellgames";
    const draw = async () => {
      const found = await played();
      if (!current()) return;
      const row = (game) => {
        const cell = (...words) => el("td", {}, ...words);
        const remove = el("button", { type: "button", "aria-label": `Delete ${game.title}, ${when(game)}`, onclick: async () => {
          if (!await app.ask(`Delete this game of ${game.title}? That cannot be undone.`, "Delete", "Keep")) return;
          try { await app.forget(game.id); await draw(); } catch (error) { app.notice(error.message); }
        } }, "Delete");
        return [cell(link(game, game.title)), cell(rivals(game)), cell(app.plural(game.turns, "turn")), cell(ended(game)),
          cell(when(game)), cell(remove)];
      };
      clear(main, el("h1", {}, "Your games"), found.length
        ? app.cards("games", ["Game", "Players", "Length", "Result", "Last move", ""], found.map(row))
        : el("p", {}, "No games yet. ", el("a", { href: "#/play" }, "Begin one")));
    };
    await draw();
    return null;
  });
})();
