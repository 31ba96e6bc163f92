/* Light or dark: what the person chose, else what the system prefers. Style sheets follow by `color-scheme`; what is
   drawn on canvases asks here, and is drawn again at the event "cg-theme". Loaded before the page is shown. */
(function () {
  "use strict";
  const Cellgames = (window.Cellgames = window.Cellgames || {});
  const KEY = "cellgames-theme";
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const THEMES = { system: "as your system", light: "light", dark: "dark" };
  const ICONS = { // half a disc, a sun, a moon
    system: "M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0-18zM12 5v14a7 7 0 0 0 0-14z",
    light: "M12 7a5 5 0 1 0 0 10a5 5 0 1 0 0-10zM11 1h2v3h-2zM11 20h2v3h-2zM1 11h3v2H1zM20 11h3v2h-3zM4 5.4L5.4 4l2 2L6 7.4zM16.6 " +
      "18l1.4-1.4 2 2-1.4 1.4zM16.6 6l2-2L20 5.4l-2 2zM4 18.6l2-2L7.4 18l-2 2z",
    dark: "M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 20 14.5z",
  };

  /** What the browser keeps; a full or forbidden store loses nothing that is on the screen. */
  Cellgames.kept = (name) => { try { return JSON.parse(localStorage.getItem(name)); } catch { return null; } };
  Cellgames.keep = (name, value) => { try { localStorage.setItem(name, JSON.stringify(value)); } catch { /* until the page is closed */ } };

  /** An SVG element. */
  Cellgames.svg = (tag, attributes, ...children) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };

  let choice = Cellgames.kept(KEY);

  function apply() {
    if (!(choice in THEMES)) choice = "system";
    if (choice === "system") delete root.dataset.theme;
    else root.dataset.theme = choice;
    window.dispatchEvent(new Event("cg-theme"));
  }

  Cellgames.dark = () => (choice === "system" ? system.matches : choice === "dark");

  /** The first colour on a light page, the second on a dark one. */
  Cellgames.either = (light, dark) => (Cellgames.dark() ? dark : light);

  /** A colour of the style sheet by its name, for canvases. */
  Cellgames.styled = function (name) {
    const value = getComputedStyle(root).getPropertyValue(name).trim();
    const pair = /^light-dark\((.*),\s*(.*)\)$/.exec(value);
    return pair ? Cellgames.either(pair[1], pair[2]) : value;
  };

  const themed = new WeakMap();

  /** A layout with the colours of the theme. */
  Cellgames.themed = function (layout) {
    if (!Cellgames.dark() || !layout.dark) return layout;
    if (!themed.has(layout)) themed.set(layout, { ...layout, ...layout.dark, palette: { ...layout.palette, ...layout.dark.palette } });
    return themed.get(layout);
  };

  /** A seat's colour for style sheets, in both themes. */
  Cellgames.seatColour = function (layout, seat) {
    const light = layout.colours[seat];
    return layout.dark ? `light-dark(${light}, ${layout.dark.colours[seat]})` : light;
  };

  /** A button that goes through the themes. */
  Cellgames.themeSwitch = function () {
    const { svg, element } = Cellgames, path = svg("path", { "fill-rule": "evenodd" });
    const button = element("button", { type: "button", class: "cg-theme", onclick: () => {
      const names = Object.keys(THEMES);
      choice = names[(names.indexOf(choice) + 1) % names.length];
      Cellgames.keep(KEY, choice);
      apply();
    } }, svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, path));
    const show = () => {
      path.setAttribute("d", ICONS[choice]);
      button.title = `Colours: ${THEMES[choice]}`;
      button.setAttribute("aria-label", button.title);
    };
    window.addEventListener("cg-theme", show);
    show();
    return button;
  };

  system.addEventListener("change", () => choice === "system" && apply());
  window.addEventListener("storage", (event) => {
    if (event.key !== KEY) return;
    choice = Cellgames.kept(KEY);
    apply();
  });
  apply();
})();
