// What waits for each consumer, and how full the streams are.

import { whyNot } from "../../answer.js";
import { ago } from "../../clock.js";
import { h, show } from "../../dom.js";
import { count, percentOf, UNKNOWN } from "../../format.js";
import { empty } from "../../parts.js";

export const QUEUES = "/api/v1/queues";
const FULL = 0.8; // share of a stream's room

const of = (/** @type {string} */ field, /** @type {string} */ text) => h("span", { "data-figure": `${QUEUES}#${field}` }, text);

/** @param {import("../../polled.js").Polled<any>} polled @returns {import("../../panel.js").Panel} */
export const queues = (polled) => ({
  id: "queues",
  title: "Queues",
  sections: [],
  draw() {},
  mount: (body) => polled.show(({ value, problem }) => show(body, ...content(value, problem, () => polled.ask(), queueTable))),
});

/** @param {import("../../polled.js").Polled<any>} polled @returns {import("../../panel.js").Panel} */
export const streams = (polled) => ({
  id: "streams",
  title: "Stream storage",
  sections: [],
  draw() {},
  mount: (body) => polled.show(({ value, problem }) => show(body, ...content(value, problem, () => polled.ask(), streamList))),
});

function content(report, problem, again, make) {
  if (problem && !report) return [whyNot(problem, again)];
  if (!report) return [empty("Asking NATS…")];
  const old = problem ? h("p", { class: "notice", "data-tone": "bad" }, h("b", {}, "NATS does not respond"), ": data from ", ago(report.at), ".") : null;
  return [old, make(report)];
}

const HEADS = ["Consumer", "Pending", "In flight", "Redelivered", "Last processed"];

function queueTable({ queues: rows }) {
  return h("div", { class: "wide" }, h("table", { class: "queues" },
    h("thead", {}, h("tr", {}, ...HEADS.map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, ...rows.map(queueRow))));
}

function queueRow(row, index) {
  const cell = (/** @type {string} */ label, /** @type {any} */ child) => h("td", { "data-label": label }, child);
  const figure = (/** @type {string} */ name) => of(`queues.${index}.${name}`, count(row[name]));
  return h("tr", {},
    h("td", {}, h("b", {}, row.consumer), h("small", {}, " ", h("code", {}, row.event.replace(/^rlaif\.|\.v\d+$/g, "")))),
    cell("Pending", figure("waiting")), cell("In flight", figure("in_hand")), cell("Redelivered", figure("again")),
    cell("Last processed", row.handled_at ? ago(row.handled_at) : UNKNOWN));
}

function streamList({ streams: rows }) {
  return h("ul", { class: "parts fills" }, ...rows.map(streamRow));
}

function streamRow(row, index) {
  const share = row.most_bytes ? row.bytes / row.most_bytes : null;
  const fill = h("i");
  fill.style.width = `${100 * Math.min(1, share ?? 0)}%`;
  const where = `streams.${index}`;
  return h("li", { "data-full": share !== null && share >= FULL ? "yes" : null, title: `${count(row.messages)} messages, ${count(row.bytes)} bytes` },
    h("span", { class: "name" }, h("code", {}, row.name)),
    h("span", { class: "bar01", "aria-hidden": "true" }, fill),
    h("span", { class: "amount" }, of(`${where}.bytes/${where}.most_bytes`, percentOf(row.bytes, row.most_bytes)), h("small", {}, " ", of(`${where}.messages`, count(row.messages)), " messages")));
}
