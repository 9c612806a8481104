// The event log, newest first.

import { h, keyed } from "../dom.js";
import { timeOfDay } from "../format.js";

const SHOWN = 80;

function draw(body, { events }) {
  // History arrives stream by stream: order by time, then by id.
  const newest = [...events].sort((a, b) => Date.parse(b.at) - Date.parse(a.at) || b.id - a.id).slice(0, SHOWN);
  keyed(body, newest.length ? newest : [null], (entry) => entry?.id ?? "none", (entry) => (entry ? line(entry) : nothing()));
}

const nothing = () => h("li", {}, h("span"), h("p", { class: "empty" }, "No events yet."));

function line({ at, kind, level, text }) {
  return h("li", { "data-kind": kind, "data-level": level }, h("time", { datetime: at, title: at }, timeOfDay(at)), h("p", {}, text));
}

/** @type {import("../panel.js").Panel} */
export const log = { id: "log", title: "Event log", tag: "ol", attributes: { tabindex: "0", "aria-label": "Events, newest first" }, sections: ["events"], draw };
