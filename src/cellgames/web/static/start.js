"use strict";
window.addEventListener("hashchange", Cellgames.app.open);
Cellgames.app.open();
