// Dead letters: the reason, and a button to redrive one after its cause is fixed.

import { whyNot } from "../../answer.js";
import { ApiProblem } from "../../api.js";
import { authorised, GivenUp } from "../../authorised.js";
import { ago } from "../../clock.js";
import { h, keyed, show } from "../../dom.js";
import { count } from "../../format.js";
import { empty } from "../../parts.js";

export const LETTERS = "/api/v1/dead-letters";

/** @param {import("../../polled.js").Polled<any>} polled @returns {import("../../panel.js").Panel} */
export const letters = (polled) => ({
  id: "letters",
  title: "Redrive dead letters",
  sections: ["dead_letters"],
  draw: (_body, { dead_letters: dead }) => {
    if (dead.count !== known) polled.ask();
    known = dead.count;
  },
  mount(body, app) {
    const note = h("div");
    const said = h("p", { class: "sub", role: "status" });
    const list = h("ol", { class: "letters" });
    body.append(note, said, list);
    const again = (/** @type {string} */ id, /** @type {HTMLButtonElement} */ button) => void sendAgain(app, polled, id, button, said);
    polled.show(({ value, problem }) => {
      show(note, problem ? whyNot(problem, () => polled.ask()) : value ? heading(value) : empty("Asking NATS…"));
      if (value) keyed(list, value.items, (row) => row.event_id, (row) => item(row, again), update);
    });
  },
});

/** What the state said when the letters were asked for. @type {number | null | undefined} */
let known;

function heading({ items, count: all }) {
  if (!items.length) return empty("No dead letters.");
  return h("p", { class: "sub" }, "Of ", h("span", { "data-figure": `${LETTERS}#count` }, count(all)), " the newest ", h("span", { "data-figure": `${LETTERS}#items.length` }, count(items.length)), ". Fix the cause first: a redriven event fails again while the fault persists.");
}

function item(row, again) {
  const button = /** @type {HTMLButtonElement} */ (h("button", { type: "button", class: "quiet small", onclick: () => again(row.event_id, button) }, "Redrive"));
  return h("li", {},
    h("p", {}, h("b", {}, row.reason), " · ", row.consumer, " · ", h("code", { class: "event-id" }, row.event_id), " · ", h("span", { class: "reported tries" }, tries(row)), " · ", ago(row.dead_at), " ", button),
    h("p", { class: "reported" }, row.detail));
}

const tries = ({ attempts }) => `${count(attempts)} ${attempts === 1 ? "try" : "tries"}`;

function update(element, row) {
  element.querySelector(".tries").textContent = tries(row);
}

async function sendAgain(app, polled, id, button, said) {
  button.disabled = true;
  try {
    const answer = await authorised(() => app.api.post(`${LETTERS}/redrive`, { event_id: id }), "redrive events");
    said.textContent = `${id} was redriven as ${answer.new_event_id}.`;
    app.announce("The event was redriven.");
  } catch (error) {
    if (error instanceof GivenUp) said.textContent = "";
    else if (error instanceof ApiProblem) said.textContent = `${error.title}: ${error.detail}`;
    else throw error;
  } finally {
    button.disabled = false;
    polled.ask();
  }
}
