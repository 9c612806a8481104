// The event log, newest first.

import { byId, h, show } from "../dom.js";
import { timeOfDay } from "../format.js";

const SHOWN = 80;

export function drawLog({ events }) {
  // History arrives stream by stream: order by time, then by id.
  const newest = [...events].sort((a, b) => Date.parse(b.at) - Date.parse(a.at) || b.id - a.id).slice(0, SHOWN);
  if (!newest.length) show(byId("log"), h("li", {}, h("span"), h("p", { class: "empty" }, "Nothing has happened yet.")));
  else show(byId("log"), ...newest.map(line));
}

function line({ at, kind, level, text }) {
  return h("li", { "data-kind": kind, "data-level": level }, h("time", { datetime: at, title: at }, timeOfDay(at)), h("p", {}, text));
}
