// Every service with each of its health checks, the failures and their remedies.

import { ago } from "../../clock.js";
import { h, show } from "../../dom.js";
import { count, UNKNOWN } from "../../format.js";
import { fig } from "../../parts.js";

const WORDS = { ready: "● ready", "not ready": "◐ not ready", stopping: "◌ stopping", stopped: "◌ stopped", silent: "✕ silent", unknown: "○ no report yet" };
const TONES = { ready: "good", silent: "bad", "not ready": "warn" };

function draw(body, { services, health }) {
  const own = health ? [{ name: "hud", state: Object.values(health.checks).every(({ ok }) => ok) ? "ready" : "not ready", checks: health.checks, heard_at: null, instances: null }] : [];
  show(body, h("ul", { class: "checks" }, ...[...(services ?? []), ...own].map(service)),
    health ? h("p", { class: "sub" }, fig("health.clients", count(health.clients)), health.clients === 1 ? " page is open" : " pages are open") : null);
}

function service({ name, state, checks, heard_at: heard, instances }) {
  const processes = instances === null ? null : h("span", { class: "quiet-text" }, fig(`services.${name}.instances`, count(instances)), instances === 1 ? " process" : " processes");
  return h("li", {},
    h("p", {}, h("b", {}, name), " ", h("span", { class: `tag ${TONES[state] ?? "plain"}` }, WORDS[state]), " ", processes, name === "hud" ? null : h("span", { class: "quiet-text" }, " · heard ", heard ? ago(heard) : UNKNOWN)),
    h("ul", { class: "plain" }, ...Object.entries(checks).map(([check, { ok, detail }]) => h("li", { class: "reported", "data-ok": ok ? "yes" : "no" }, ok ? "✓ " : "✕ ", check, detail ? `: ${detail}` : ""))));
}

/** @type {import("../../panel.js").Panel} */
export const checks = { id: "checks", title: "Services and health checks", sections: ["services", "health"], draw };
