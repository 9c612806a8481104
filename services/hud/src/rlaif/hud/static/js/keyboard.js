// Keys: Space pauses the screen, ? shows the help.

import { byId } from "./dom.js";

const CONTROLS = "button, a, input, select, textarea, summary, [contenteditable]";

export function listenToKeys({ togglePause }) {
  const help = byId("help");
  const toggleHelp = () => (help.open ? help.close() : help.showModal());
  byId("help-button").addEventListener("click", toggleHelp);
  byId("pause").addEventListener("click", togglePause);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "?") toggleHelp();
    else if (event.key === " " && !document.querySelector("dialog[open]") && !event.target.closest?.(CONTROLS)) togglePause();
    else return;
    event.preventDefault();
  });
}
