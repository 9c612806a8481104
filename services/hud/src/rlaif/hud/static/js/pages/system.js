// The system page: services and their checks, queues, dead letters, and the event log.

import { Answer, ApiProblem, authorised, GivenUp, hiddenUntil } from "../api.js";
import { h, keyed, show } from "../dom.js";
import { ago, count, percentOf, UNKNOWN } from "../format.js";
import { ICONS, log, withOwn } from "../panels/loop.js";
import { bar, cell, empty, fig, from, mountPanels, table } from "../parts.js";

const QUEUES = "/api/v1/queues";
const LETTERS = "/api/v1/dead-letters";
const OFTEN = 3000; // ms
const SELDOM = 15_000; // a new letter is requested at once
const FULL = 0.8; // share of a stream's limit

/** @type {import("../router.js").Page} */
export const page = {
  title: "System",
  mount(root, app, _params, scope) {
    const queues = new Answer(app, scope, { path: QUEUES, every: OFTEN });
    const letters = new Answer(app, scope, { path: LETTERS, every: SELDOM });
    const ofQueues = (/** @type {string} */ id, /** @type {string} */ title, /** @type {(report: any) => Node} */ make) => ({ id, title, mount: (/** @type {HTMLElement} */ body) => void queues.watch(() => show(body, outdated(queues), queues.content(make, "Asking NATS…"))) });
    scope.add(mountPanels(root, app, [checks, ofQueues("queues", "Queues", queueTable), ofQueues("streams", "Stream storage", streamList), deadLetters(letters), log]));
    scope.add(hiddenUntil(root, [queues, letters]));
  },
};

/** @param {Answer} answer */
const outdated = ({ value, problem }) => value && problem && h("p", { class: "notice", "data-tone": "bad" }, h("b", {}, "NATS does not respond"), ": data from ", ago(value.at), ".");

function queueTable({ queues: rows }) {
  const heads = ["Consumer", "Pending", "In flight", "Redelivered", "Last processed"];
  return h("div", { class: "wide" }, table({ look: "queues", heads, rows: rows.map(queueRow) }).frame);
}

function queueRow(row, index) {
  const figure = (/** @type {string} */ name) => from(QUEUES, `queues.${index}.${name}`, count(row[name]));
  return h("tr", {},
    h("td", {}, h("b", {}, row.consumer), h("small", {}, " ", h("code", {}, row.event.replace(/^rlaif\.|\.v\d+$/g, "")))),
    cell("Pending", figure("pending")), cell("In flight", figure("in_flight")), cell("Redelivered", figure("redelivered")),
    cell("Last processed", row.acknowledged_at ? ago(row.acknowledged_at) : UNKNOWN));
}

function streamList({ streams: rows }) {
  return h("ul", { class: "parts fills" }, ...rows.map(streamRow));
}

function streamRow(row, index) {
  const share = row.max_bytes ? row.bytes / row.max_bytes : null;
  const where = `streams.${index}`;
  return h("li", { "data-full": share !== null && share >= FULL ? "yes" : null, title: `${count(row.messages)} messages, ${count(row.bytes)} bytes` },
    h("span", { class: "name" }, h("code", {}, row.name)),
    bar(share ?? 0),
    h("span", { class: "amount" }, from(QUEUES, `${where}.bytes/${where}.max_bytes`, percentOf(row.bytes, row.max_bytes)), h("small", {}, " ", from(QUEUES, `${where}.messages`, count(row.messages)), " messages")));
}

/** Dead letters: the reason, and a button to redrive one after its cause is fixed. @param {Answer} answer @returns {import("../parts.js").Panel} */
function deadLetters(answer) {
  return {
    id: "letters",
    title: "Dead letters",
    sections: ["dead_letters"],
    mount(body, app) {
      /** @type {number | undefined} */
      let known;
      const note = h("div");
      const outcome = h("p", { class: "sub", role: "status" });
      const list = h("ol", { class: "letters" });
      body.append(note, outcome, list);
      const redrive = (/** @type {string} */ id, /** @type {HTMLButtonElement} */ button) => void sendAgain(app, answer, id, button, outcome);
      answer.watch(({ value }) => {
        show(note, answer.notice() ?? answer.content(letterCount, "Asking NATS…"));
        if (value) keyed(list, value.items, (row) => row.event_id, (row) => letter(row, redrive), (element, row) => (element.querySelector(".attempts").textContent = attempts(row)));
      });
      return ({ dead_letters: dead }) => {
        if (known !== undefined && dead.count !== known) void answer.ask();
        known = dead.count;
      };
    },
  };
}

function letterCount({ items, count: all }) {
  if (!items.length) return empty("No dead letters.");
  return h("p", { class: "sub" }, "Of ", from(LETTERS, "count", count(all)), " the newest ", from(LETTERS, "items.length", count(items.length)), ". Fix the cause first: a redriven event fails again while the fault persists.");
}

function letter(row, redrive) {
  const button = /** @type {HTMLButtonElement} */ (h("button", { type: "button", class: "quiet small", onclick: () => redrive(row.event_id, button) }, "Redrive"));
  return h("li", {},
    h("p", {}, h("b", {}, row.reason), " · ", row.consumer, " · ", h("code", { class: "event-id" }, row.event_id), " · ", h("span", { class: "reported attempts" }, attempts(row)), " · ", ago(row.dead_at), " ", button),
    h("p", { class: "reported" }, row.detail));
}

const attempts = ({ attempts: n }) => `${count(n)} ${n === 1 ? "attempt" : "attempts"}`;

async function sendAgain(app, answer, id, button, outcome) {
  button.disabled = true;
  try {
    const { new_event_id: other } = await authorised(() => app.api.post(`${LETTERS}/redrive`, { event_id: id }), "redrive events");
    outcome.textContent = `${id} was redriven as ${other}.`;
    app.announce("The event was redriven.");
  } catch (error) {
    if (error instanceof GivenUp) outcome.textContent = "";
    else if (error instanceof ApiProblem) outcome.textContent = `${error.title}: ${error.detail}`;
    else throw error;
  } finally {
    button.disabled = false;
    void answer.ask();
  }
}

const TONES = { ready: "good", silent: "bad", "not ready": "warn" };

/** Every service with its health checks. @type {import("../parts.js").Panel} */
const checks = {
  id: "checks",
  title: "Services and health checks",
  sections: ["services", "health"],
  draw: (body, state) => show(body, h("ul", { class: "checks" }, ...withOwn(state).map(service)),
    state.health ? h("p", { class: "sub" }, fig("health.clients", count(state.health.clients)), state.health.clients === 1 ? " page is open" : " pages are open") : null),
};

function service({ name, state, checks: all, reported_at: at, instances }) {
  const processes = instances === undefined ? null : h("span", { class: "quiet-text" }, fig(`services.${name}.instances`, count(instances)), instances === 1 ? " process" : " processes");
  return h("li", {},
    h("p", {}, h("b", {}, name), " ", h("span", { class: `tag ${TONES[state] ?? "plain"}` }, `${ICONS[state]} ${state === "unknown" ? "no report yet" : state}`), " ", processes, name === "hud" ? null : h("span", { class: "quiet-text" }, " · reported ", at ? ago(at) : UNKNOWN)),
    h("ul", { class: "plain" }, ...Object.entries(all).map(([check, { ok, detail }]) => h("li", { class: "reported", "data-ok": ok ? "yes" : "no" }, ok ? "✓ " : "✕ ", check, detail ? `: ${detail}` : ""))));
}
