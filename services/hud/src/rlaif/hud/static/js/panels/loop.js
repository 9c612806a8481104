// The pipeline: number of segments by stage, the services, and the event log.

import { h, keyed, show } from "../dom.js";
import { ago, compact, count, dated, secondsSince, timeOfDay, UNKNOWN } from "../format.js";
import { fig } from "../parts.js";

const FRESH_SECONDS = 10;

function draw(body, { loop, run, reward_models: models }) {
  show(body,
    station("Captured", number("captured", loop.captured), when(loop.captured_at, "no segment yet"), loop.captured_at),
    station("Exported", number("exported", loop.exported), when(loop.exported_at, "none exported yet"), loop.exported_at),
    station("Scored", number("scored", loop.scored), scored(loop), loop.scored_at),
    station("Reward model", version("reward_models.champion.version", models?.champion?.version), published(models), models?.champion?.since ?? null),
    station("Trainer uses", version("run.reward_model_version", run?.reward_model_version), loaded(run), null),
  );
}

function station(label, value, sub, at) {
  const fresh = at !== null && secondsSince(at) < FRESH_SECONDS;
  return h("li", { "data-fresh": fresh ? "yes" : "no" }, h("p", { class: "label" }, label), h("p", { class: "value" }, value), h("p", { class: "sub" }, ...sub));
}

const number = (name, value) => fig(`loop.${name}`, count(value), `${count(value)} segments`);
const version = (field, value) => (value ? fig(field, `v${value}`) : UNKNOWN);
const when = (at, none) => (at === null ? [none] : [ago(at, { prefix: "last " })]);

function scored(loop) {
  const without = loop.without_score ? [", ", fig("loop.without_score", count(loop.without_score)), " without score"] : [];
  return [...when(loop.scored_at, "none scored yet"), ...without];
}

function published(models) {
  const champion = models?.champion;
  if (!champion) return ["none published yet"];
  const last = champion.since === null ? [] : [ago(champion.since)];
  if (champion.pinned) return [h("b", { class: "attention", title: champion.pin_reason }, ...pinnedUntil(champion)), ...back(champion)];
  if (champion.rolled_back_from) return [h("b", { class: "attention" }, ...back(champion).slice(1)), " ", ...last];
  const many = [fig("reward_models.published.length", count(models.published.length)), models.published.length === 1 ? " version" : " versions"];
  return last.length ? [...many, ", last ", ...last] : many;
}

const back = (champion) => (champion.rolled_back_from ? [", ", "rolled back from ", fig("reward_models.champion.rolled_back_from", `v${champion.rolled_back_from}`)] : []);

/** "pinned until 12:30:05", or "pinned" when a person has to unpin it. */
export const pinnedUntil = ({ pinned_until: end }) => (end ? ["pinned until ", h("time", { datetime: end }, timeOfDay(end))] : ["pinned"]);

function loaded(run) {
  if (!run?.reward_model_version) return ["no reward model yet"];
  const step = run.reward_model_loaded_at_step;
  if (step === null) return ["since an unknown step"];
  return ["since step ", fig("run.reward_model_loaded_at_step", compact(step), `step ${count(step)}`)];
}

function mount(body, app, scope) {
  const list = h("ul", { class: "services", id: "services", "aria-label": "Services" });
  const title = body.parentElement.querySelector("h2");
  const head = h("div", { class: "loop-head" });
  title.replaceWith(head);
  head.append(title, list);
  scope.add(app.store.watch(["services", "health"], (state) => show(list, ...withOwn(state).map(item))));
  scope.every(5000, () => app.store.known && draw(body, app.store.state)); // marks of fresh stations fade
}

/** @type {import("../parts.js").Panel} */
export const loop = { id: "loop", title: "Pipeline", tag: "ol", sections: ["loop", "run", "reward_models"], mount, draw };

export const ICONS = { ready: "●", "not ready": "◐", stopping: "◌", stopped: "◌", silent: "✕", unknown: "○" };
const NOTES = { unknown: "no report yet" };

/** The services, and the HUD itself. */
export function withOwn({ services, health }) {
  if (!health) return services ?? [];
  const ready = Object.values(health.checks).every(({ ok }) => ok);
  return [...(services ?? []), { name: "hud", state: ready ? "ready" : "not ready", checks: health.checks }];
}

/** A dot and a name, and the state of a service that is not ready. */
function item({ name, state, checks }) {
  const failing = Object.entries(checks).filter(([, { ok }]) => !ok).map(([check, { detail }]) => `${check}: ${detail}`);
  const note = state === "ready" ? null : h("span", { class: "note" }, NOTES[state] ?? state);
  return h("li", { "data-state": state, "data-service": name, title: [`${name}: ${NOTES[state] ?? state}`, ...failing].join("\n") },
    h("span", { class: "icon", "aria-hidden": "true" }, ICONS[state]), h("span", {}, name), note);
}

const SHOWN = 80;

function drawLog(body, { events }) {
  // History arrives stream by stream: order by time, then by id.
  const newest = [...events].sort((a, b) => Date.parse(b.at) - Date.parse(a.at) || b.id - a.id).slice(0, SHOWN);
  keyed(body, newest.length ? newest : [null], (entry) => entry?.id ?? "none", (entry) => (entry ? logLine(entry) : nothing()));
}

const nothing = () => h("li", {}, h("span"), h("p", { class: "empty" }, "No events yet."));

function logLine({ at, kind, level, text }) {
  return h("li", { "data-kind": kind, "data-level": level }, h("time", { datetime: at, title: at }, dated(at)), h("p", {}, text));
}

/** @type {import("../parts.js").Panel} */
export const log = { id: "log", title: "Event log", tag: "ol", attributes: { tabindex: "0", "aria-label": "Events, newest first" }, sections: ["events"], draw: drawLog };
