// The games to choose from, and what to choose before a game.
"use strict";
(() => {
  const app = Cellgames.app;
  const { el, add, clear, api } = app;
  const SEVERAL = "*"; // in the place of a seat

  const CLOCKS = [
    ["", "none"], ["60", "1+0: 1 minute each"], ["180+2", "3+2: 3 minutes, + 2 s a move"], ["600+5", "10+5: 10 minutes, + 5 s a move"],
    ["259200+86400", "3 days, + 1 day a move"],
  ];

  // What a preset is called beside the others of its game: the words of its id behind the game's, such as "Talk, small".
  const titleOf = ({ id, game, preset }) => {
    const words = id.slice(game.lastIndexOf("-v") + 1, id.lastIndexOf("-v")).split("-").join(", ");
    return preset && words ? words[0].toUpperCase() + words.slice(1) : "Full";
  };

  const rulesOf = (game) => el("div", { class: "rules" },
    el("ul", {}, game.rules.map((rule) => el("li", {}, rule))), el("p", { class: "credit" }, game.credit));
  app.rulesOf = rulesOf;

  app.route(/^(?:play)?$/, async (main, _, query, current) => {
    const games = await app.games();
    if (!current()) return null;
    document.title = "Cellgames";
    const whole = games.filter((game) => !game.preset);
    const begun = el("section", { "aria-label": "Your games" });
    clear(main, el("h1", {}, "Games played with cells"), begun,
      el("p", { class: "lead" }, "Play against agents, watch what they play, and see who is best."),
      el("p", { class: "buttons" }, el("a", { class: "button main", href: "#/guide/torus-v0" }, "Learn in a minute"),
        el("span", { class: "hint" }, "A guided game of Torus, move by move.")),
      el("div", { class: "cards" }, whole.map((game) => {
        const small = games.find((other) => other.game === game.game && other.preset);
        return el("section", { class: "card panel" }, app.demonstration(game, game === whole[0]), el("h2", {}, game.title),
          Cellgames.goal({ goals: game.goals, players: game.people }, null) || el("p", {}, game.rules[0]),
            el("p", { class: "credit" }, game.credit),
          el("p", { class: "buttons" }, el("a", { class: "button main", href: `#/play/${game.id}` }, "Play"),
            small && el("a", { class: "button", href: `#/play/${small.id}` }, "Small board"),
            game.lesson && el("a", { class: "button", href: `#/learn/${game.id}` }, "How to play")));
      })));
    app.goOn(begun, current).catch(() => null); // the games to choose from are there without it
    return null;
  });

  // A field of a form: its label and its input.
  const field = (label, input) => {
    input.id = `field-${label.toLowerCase().replace(/[^a-z0-9]+/g, "-")}`;
    return el("div", { class: "field" }, el("label", { for: input.id }, label), input);
  };

  const numberInput = (value, low, high, step = 1) => el("input", { type: "number", value, min: low, max: high, step, required: true });

  app.route(/^play\/([^/]+)$/, async (main, [id], query, current) => {
    const games = await app.games();
    if (!current()) return null;
    const game = games.find((one) => one.id === id);
    if (!game) throw new Error(`There is no game ${app.shortened(id)} to play here.`);
    document.title = `${game.title} · Cellgames`;
    const settings = new Map();
    const form = el("form", { class: "panel setup", onsubmit: begin });
    const seats = el("select", {});
    const sitting = el("fieldset", { class: "sitting", hidden: true });
    const rivals = el("div", { class: "rivals" });
    const apart = el("input", { type: "checkbox" });
    const apartLine = el("label", { class: "check" }, apart, " each at a screen of their own, by link");
    const each = el("input", { type: "checkbox", onchange: drawRivals });
    const clock = el("select", {}, CLOCKS.map(([value, words]) => el("option", { value }, words)));
    const seed = el("input", { type: "number", min: 0, max: Number.MAX_SAFE_INTEGER, placeholder: "any" });
    const submit = el("button", { type: "submit", class: "main" }, "Start the game");
    let players = game.players, agents = [], levels = [], asked = 0;
    let answered = Promise.resolve(), starting = false, playable = false;

    const presets = games.filter((other) => other.game === game.game);
    const preset = el("div", { class: "tabs", role: "group", "aria-label": "Board" }, presets.map((other) => el("a", {
      href: `#/play/${other.id}`, class: "button", "aria-current": other.id === id ? "true" : null,
    }, titleOf(other))));

    const inputs = game.settings.map((setting) => {
      const yes = typeof setting.default === "boolean"; // a yes/no option
      const first = query.get(setting.name) ?? String(setting.default); // what a link asks for
      const input = yes ? el("input", { type: "checkbox", checked: first === "true" }) : setting.choices.length
        ? el("select", {}, setting.choices.map((choice) => el("option", { value: choice, selected: String(choice) === first }, choice)))
        : numberInput(first, setting.low, setting.high, setting.step);
      input.addEventListener("change", changed);
      settings.set(setting.name, [setting, input]);
      return yes ? el("label", { class: "check option" }, input, ` ${setting.label}`) : field(setting.label, input);
    });

    // Only what differs from the preset.
    function chosen() {
      const found = {};
      for (const [name, [setting, input]] of settings) {
        const value = input.type === "checkbox" ? input.checked : setting.choices.length ? setting.choices[input.selectedIndex]
          : Number(input.value);
        if (value !== setting.default) found[name] = value;
      }
      return found;
    }

    function changed() {
      if (form.checkValidity()) answered = askAgents();
      return answered;
    }

    // Ask for the agents that can play with these settings; those that were chosen stay if they still can.
    async function askAgents() {
      const number = ++asked, given = chosen();
      const count = given.players || given.teams || game.players.length;
      const stem = (game.players[0].match(/^(.*_)(\d+)$/) || [])[1];
      if (stem) players = Array.from({ length: count }, (_, seat) => stem + (seat + Number(game.players[0].slice(stem.length))));
      drawSeats();
      form.setAttribute("aria-busy", "true");
      try {
        const query = new URLSearchParams({ game: id, parameters: JSON.stringify(given) });
        const answers = await Promise.all([api(`/api/agents?${query}`), api(`/api/levels?${query}`)]);
        if (number !== asked) return;
        [agents, levels] = answers;
        playable = true;
      } catch (error) {
        if (number !== asked) return;
        playable = false;
        app.notice(error.message);
      }
      submit.disabled = starting || !playable;
      drawRivals();
      form.setAttribute("aria-busy", "false");
    }

    function drawSeats() {
      const before = seats.options.length ? seats.value : query.get("seat") || players[0];
      clear(seats, players.map((name, seat) => el("option", { value: name }, game.people[seat])),
        el("option", { value: SEVERAL }, "several people"), el("option", { value: "" }, "none: agents play all seats"));
      if ([...seats.options].some((option) => option.value === before)) seats.value = before;
      else seats.value = players[0];
      const chosen = [...sitting.querySelectorAll("input")].map((box) => box.checked);
      clear(sitting, el("legend", {}, "People"), players.map((name, seat) => el("label", { class: "check" },
        el("input", { type: "checkbox", value: name, checked: chosen.length ? chosen[seat] : seat < 2, onchange: drawRivals }),
          ` ${game.people[seat]}`)));
    }

    // The seats of people.
    const people = () => (seats.value === SEVERAL ? [...sitting.querySelectorAll("input:checked")].map((box) => box.value) : seats.value
      ? [seats.value] : []);

    seats.addEventListener("change", drawRivals);

    // What is known of a level: its rating and the time of a move.
    const measured = ({ elo, seconds }) => (elo === null ? "Not measured on this board."
      : `Rating ${elo} (random has 0); ${seconds < 0.01 ? "less than 0.01" : `about ${seconds}`} s a move.`);

    // Offer no more playouts than this computer has time for; it is measured when somebody asks for the agent.
    async function limit(agent, number) {
      const query = new URLSearchParams({ game: id, parameters: JSON.stringify(chosen()), agent });
      const { most } = await api(`/api/agents/limit?${query}`).catch(() => ({ most: 5000 })); // the server checks the number itself
      number.max = most;
      number.value = Math.min(number.value, most);
    }

    // Choose an agent; `before` is what was chosen in its place.
    function rival(label, before) {
      const plain = agents.filter((agent) => !agent.name.includes(".")), files = agents.filter((agent) => agent.name.includes("."));
      const choices = plain.map((agent) => el("option", { value: agent.name }, agent.name));
      const select = el("select", { class: "agent" }, levels.length && el("optgroup", { label: "by level" },
        levels.map((level) => el("option", { value: `level:${level.name}` }, level.name))),
        levels.length ? el("optgroup", { label: "another agent" }, choices) : choices,
        files.length && el("optgroup", { label: "listed by this page" },
          files.map((agent) => el("option", { value: agent.name }, app.shortened(agent.name)))));
      const number = numberInput(64, 1, 5000);
      for (const named of ["aria-label", "title"]) number.setAttribute(named, "Playouts a move");
      const about = el("p", { class: "hint" });
      const follow = () => {
        const level = levels.find((one) => select.value === `level:${one.name}`);
        const agent = agents.find((one) => one.name === (level ? level.agent.split(":")[0] : select.value));
        number.hidden = !agent || agent.number === null;
        if (agent && agent.number !== null) number.value = agent.number;
        if (level) number.hidden = true;
        if (!number.hidden) limit(agent.name, number);
        const told = agent && agent.summary.replace(/\bN\b/, level ? level.agent.split(":")[1] : "so many");
        about.textContent = agent ? (level ? `${level.agent}: ${told}. ${measured(level)}` : told) : "";
      };
      select.addEventListener("change", follow);
      select.value = [before && before.name, levels.length ? `level:${levels[Math.min(1, levels.length - 1)].name}` : "", "greedy",
        "random"].find((name) => [...select.options].some((option) => option.value === name)) || "";
      follow();
      if (before && before.name === select.value && !number.hidden) number.value = before.number;
      const made = el("div", { class: "rival" }, field(label, select), number, about);
      made.chosen = () => ({ name: select.value, number: number.value });
      made.spec = () => {
        const level = levels.find((one) => select.value === `level:${one.name}`);
        return level ? level.agent : number.hidden ? select.value : `${select.value}:${number.value}`;
      };
      return made;
    }

    function drawRivals() {
      sitting.hidden = apartLine.hidden = seats.value !== SEVERAL;
      const own = people(), others = players.filter((name) => !own.includes(name));
      const labels = !others.length ? [] : each.checked && others.length > 1
        ? others.map((name) => `${own.length ? "Opponent" : "Agent"} as ${game.people[players.indexOf(name)]}`)
        : [!own.length ? "Agent in all seats" : others.length > 1 ? "Opponent in all other seats" : "Opponent"];
      const before = [...rivals.children].map((one) => one.chosen());
      clear(rivals, labels.map((label, place) => rival(label, before[place])));
      eachLine.hidden = others.length < 2;
    }
    const eachLine = el("label", { class: "check" }, each, " a different agent for each seat");

    async function begin(event) {
      event.preventDefault();
      if (starting || !form.reportValidity()) return;
      starting = submit.disabled = true;
      submit.textContent = "Starting …";
      await answered;
      try {
        if (playable) return await play();
      } catch (error) {
        app.notice(error.message);
      }
      starting = false;
      submit.disabled = !playable;
      submit.textContent = "Start the game";
    }

    async function play() {
      const wish = { game: id, parameters: chosen(), seat: people(), agents: [...rivals.children].map((one) => one.spec()) };
      if (!wish.agents.length) wish.agents = ["random"]; // nobody's
      if (seats.value === SEVERAL && apart.checked) wish.invite = true;
      if (clock.value) wish.clock = clock.value;
      if (query.has("position")) wish.position = query.get("position");
      if (seed.value !== "") wish.seed = Number(seed.value);
      await app.begin(wish);
    }

    add(form, [preset, field("Your seat", seats), sitting, apartLine, rivals, eachLine, field("Clock", clock),
      el("details", { class: "more" }, el("summary", {}, "Board and seed"),
        el("div", { class: "fields" }, inputs.filter((one) => one.matches(".field")), field("Seed", seed)),
        inputs.filter((one) => one.matches(".option"))), submit]);
    clear(main, el("h1", {}, query.has("position") ? `${game.title}, from a position` : game.title), el("div", { class: "two" }, form,
      el("section", { class: "panel" }, game.lesson && app.learnLinks(game.game), el("h2", {}, "Rules in brief"), rulesOf(game))));
    submit.disabled = true;
    await changed();
    return null;
  });
})();
