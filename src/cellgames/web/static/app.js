// What all parts of the page share: elements, requests, notices, routes. Text from records and agents is only ever set
// as text, never as HTML.
"use strict";
var Cellgames = window.Cellgames = window.Cellgames || {};

(() => {
  const app = Cellgames.app = {};
  const MOST_KEPT = 30; // analyses
  app.KEPT = "cellgames.analysis "; // before the key of each
  const routes = []; // [pattern, page]
  let leave = null; // what the page that is shown wants to do before another one is
  let shown = 0; // counts pages, so that a slow answer does not draw over the next page

  const el = app.el = Cellgames.element;
  app.add = Cellgames.add;

  app.clear = (parent, ...children) => {
    parent.replaceChildren();
    return app.add(parent, children);
  };

  // The legal choices of all parts of an action, as the server packs them: bits, the highest first.
  app.legal = (text, nvec) => {
    const bytes = Cellgames.bytes(text), length = nvec.reduce((sum, count) => sum + count, 0);
    return Uint8Array.from({ length }, (_, place) => (bytes[place >> 3] >> (7 - (place & 7))) & 1);
  };

  // JSON from the server; an error has the server's words.
  app.api = async (path, body, method, signal) => {
    const options = { method: method || (body === undefined ? "GET" : "POST"), signal };
    if (body !== undefined) {
      options.headers = { "content-type": "application/json" };
      options.body = JSON.stringify(body);
    }
    let answer;
    try {
      answer = await fetch(path, options);
    } catch {
      throw Object.assign(new Error("The server does not answer. Is cellgames serve still running?"), { status: 0 });
    }
    if (answer.ok) return answer.status === 204 ? null : answer.json();
    const { error } = await answer.json().catch(() => ({})); // without JSON the status says it
    throw Object.assign(new Error(error || `${answer.status} ${answer.statusText}`), { status: answer.status });
  };

  let games = null;
  app.games = () => (games = games || app.api("/api/games").catch((error) => { games = null; throw error; }));

  /** What people call a game, by its id; the id, if the page has no board for it. */
  app.titleOf = (games, id) => (games.find((one) => one.id === id) || { title: id }).title;

  /** The settings of a game in words. */
  app.settingsOf = (games, id, values) => {
    const { settings } = games.find((one) => one.id === id) || { settings: [] };
    return settings.filter(({ name }) => ![undefined, null, false].includes(values[name]))
      .map(({ name, label }) => (values[name] === true ? label : `${label}: ${values[name]}`)).join(" · ");
  };

  app.kept = Cellgames.kept;
  app.keep = (name, value) => {
    Cellgames.keep(name, value);
    if (!name.startsWith(app.KEPT) || app.kept(name) === null) return;
    const names = Object.keys(localStorage).filter((one) => one.startsWith(app.KEPT));
    const aged = names.map((one) => [(app.kept(one) || {}).time || 0, one]).sort((a, b) => b[0] - a[0]);
    for (const [, one] of aged.slice(MOST_KEPT)) localStorage.removeItem(one);
  };

  // A message that goes away.
  app.notice = (text) => {
    const place = document.getElementById("notices");
    const note = el("div", { class: "notice" }, el("span", {}, text),
      el("button", { type: "button", "aria-label": "Close", onclick: () => note.remove() }, "×"));
    app.clear(place, note);
    setTimeout(() => note.remove(), 9000);
  };

  // Ask a question with two answers; the answer is true for the first one.
  app.ask = (question, yes, no) => (document.querySelector("dialog[open]") ? Promise.resolve(false) : new Promise((answered) => {
    const close = (answer) => () => box.close(answer);
    const box = el("dialog", { class: "panel ask", onclose: () => { box.remove(); answered(box.returnValue === "yes"); } },
      el("p", {}, question), el("p", { class: "buttons" },
        el("button", { type: "button", class: "main", onclick: close("yes") }, yes),
          el("button", { type: "button", autofocus: true, onclick: close("no") }, no)));
    document.body.append(box);
    box.showModal();
  }));

  app.quiet = () => document.getElementById("notices").replaceChildren();

  app.alert = (text, again) => el("div", { class: "panel error", role: "alert" }, el("p", {}, text),
    again && el("button", { type: "button", onclick: again }, "Try again"));

  app.route = (pattern, page) => routes.push([pattern, page]);

  app.plural = (count, one) => `${count} ${one}${count === 1 ? "" : "s"}`;

  app.shortened = (text, most = 42) => (text.length <= most ? text : `${text.slice(0, 12)}…${text.slice(13 - most)}`);

  // A table whose rows are cards on a phone, where each cell says its column's name; `rows` are lists of cells.
  app.cards = (name, heads, rows, caption = null) => {
    for (const cells of rows) cells.forEach((cell, place) => { cell.dataset.label = heads[place]; });
    return el("div", { class: "scroll" }, el("table", { class: `${name} stacked` }, caption && el("caption", {}, caption),
      el("thead", {}, el("tr", {},
        heads.map((head, place) => el("th", { scope: "col", class: rows.length && rows[0][place].classList.contains("number")
        ? "number" : "" }, head)))),
      el("tbody", {}, rows.map((cells) => el("tr", {}, cells)))));
  };

  /** A line of text to copy: its input, and the button. */
  app.copied = (label, value) => {
    const input = el("input", { class: "sharelink", readOnly: true, value, "aria-label": label, onfocus: () => input.select() });
    return [input, el("button", { type: "button", onclick: async () => {
      input.select();
      try { await navigator.clipboard.writeText(input.value); app.notice("Copied."); } catch { app.notice("Press Ctrl+C to copy."); }
    } }, "Copy")];
  };

  /** Runs and seasons in a list: `game`, `title`, `address`, `name` (of the file or folder), `players`, `result`, `time`, and
   *  `board`, the record of a little board. */
  app.listed = (runs, head) => {
    const cell = (...content) => el("td", { class: "wrap" }, content);
    return app.cards("list", ["", "", "Players", head, "Date"], runs.map((run) => [
      el("td", {}, run.board && app.recorded(run.board)), cell(el("a", { href: run.address, title: run.name }, run.title)),
      cell(app.among(run.players)), cell(run.result || ""), cell(app.when(run.time))]));
  };

  const inView = new IntersectionObserver((entries) => entries.filter((entry) => entry.isIntersecting).forEach(({ target }) => {
    inView.unobserve(target);
    target.fill();
  }));

  /** A little board of the last `frame` that is fetched when it comes into view; packed `frames` are shown in turn. */
  app.little = (fetched, maxHeight = 64) => {
    const canvas = el("canvas", {}), place = el("div", { class: "little" }, canvas);
    place.style.height = `${maxHeight}px`;
    place.fill = async () => {
      const { layout, frame, frames } = await fetched().catch(() => ({})); // who opens it reads what is wrong
      if (!canvas.isConnected || !(frame || frames)) return;
      const board = new Cellgames.Board(canvas, layout, { maxHeight, bare: true });
      if (frame) return void board.draw(frame, {});
      const film = await Cellgames.unpack(frames), still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
      const show = (at) => {
        if (!canvas.isConnected) return;
        board.draw(film[Math.min(at, film.length - 1)], {});
        if (!still) setTimeout(show, 700, (at + 1) % (film.length + 5)); // the end stays a while
      };
      show(still ? film.length : 0);
    };
    inView.observe(place);
    return place;
  };

  /** How a game between two bots ends, or with `live` all of it. */
  app.demonstration = ({ id }, live = false) =>
    app.little(() => app.api(`/api/demonstration?${new URLSearchParams({ game: id, live })}`), 130);

  /** A little board of a recorded game: of a file by `file` and `number`, or of the store by `number`. */
  app.recorded = (place) => app.little(() => app.api(`/api/${place.file ? "records" : "store"}/board?${new URLSearchParams(place)}`));

  /** A moment, in seconds since 1970. */
  app.when = (time) => new Date(time * 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });

  /** Names in a line, those of the first if there are many. */
  app.among = (all) => {
    const names = [...new Set(all)], more = names.length - 6;
    return `${names.slice(0, 6).map((name) => app.shortened(name, 24)).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  };

  // Save text under a name.
  app.save = (name, text, type) => {
    const address = URL.createObjectURL(new Blob([text], { type }));
    const link = el("a", { href: address, download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  };

  // The part of a hash after "#/", as a path and a query.
  const parsed = () => {
    const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
    return [path, new URLSearchParams(query)];
  };

  // Say what the page that is being opened waits for.
  app.waitFor = (main, words) => {
    const line = main.querySelector(".loading");
    if (line) line.firstChild.textContent = `${words} …`;
  };

  // Show what the address says.
  app.open = async () => {
    const [path, query] = parsed();
    const main = document.getElementById("main");
    const number = ++shown;
    if (leave) leave();
    leave = null;
    app.quiet();
    for (const link of document.querySelectorAll("header nav a")) {
      const here = path.split("/")[0] === link.getAttribute("href").slice(2)
        || (/^(games$|(game|learn|guide)\/)/.test(path) && link.getAttribute("href") === "#/play");
      if (here) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
    }
    for (const [pattern, page] of routes) {
      const match = pattern.exec(path);
      if (!match) continue;
      const line = el("p", { class: "loading" });
      app.clear(main, line);
      Cellgames.passing(line, "Loading …");
      const current = () => number === shown;
      try {
        const left = await page(main, match.slice(1).map(decodeURIComponent), query, current);
        if (current()) leave = left || null; else if (left) left();
        if (current() && number > 1) main.focus({ preventScroll: true });
      } catch (error) {
        if (current()) app.clear(main, app.alert(error.message, app.open), el("p", {},
          el("a", { href: "#/play" }, "To the games")));
      }
      return;
    }
    location.replace("#/play");
  };

  app.svg = Cellgames.svg;
})();
