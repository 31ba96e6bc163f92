"use strict";
window.addEventListener("hashchange", Cellgames.app.open);
Cellgames.app.open();
document.querySelector(".top").append(Cellgames.themeSwitch());
