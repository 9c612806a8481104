// Services in one line: a dot and a name each, and the state of those that are not ready.

import { h, show } from "../dom.js";

const ICONS = { ready: "●", "not ready": "◐", stopping: "◌", stopped: "◌", silent: "✕", unknown: "○" };
const NOTES = { unknown: "no report yet" };

export function drawServices(body, { services, health }) {
  const all = [...(services ?? []), ...(health ? [own(health)] : [])];
  show(body, ...all.map(item));
}

function own({ checks }) {
  const well = Object.values(checks).every(({ ok }) => ok);
  return { name: "hud", state: well ? "ready" : "not ready", checks };
}

function item({ name, state, checks }) {
  const failing = Object.entries(checks).filter(([, { ok }]) => !ok).map(([check, { detail }]) => `${check}: ${detail}`);
  const note = state === "ready" ? null : h("span", { class: "note" }, NOTES[state] ?? state);
  return h("li", { "data-state": state, "data-service": name, title: [`${name}: ${NOTES[state] ?? state}`, ...failing].join("\n") },
    h("span", { class: "icon", "aria-hidden": "true" }, ICONS[state]), h("span", {}, name), note);
}
