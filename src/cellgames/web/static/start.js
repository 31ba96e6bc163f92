"use strict";
window.addEventListener("hashchange", Cellgames.app.moved);
window.addEventListener("beforeunload", Cellgames.app.closing);
Cellgames.app.open();
document.querySelector(".top").append(Cellgames.themeSwitch());
