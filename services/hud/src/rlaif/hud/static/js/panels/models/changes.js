// Champion history, from stored events: made live, pinned, withdrawn, and by whom.

import { Answer } from "../../answer.js";
import { ago } from "../../clock.js";
import { h, show } from "../../dom.js";
import { empty } from "../../parts.js";
import { named } from "./figures.js";

const PATH = "/api/v1/history?points=2";
const SHOWN = 100;
/** @type {Record<string, string>} */
const BY = { gate: "passed the gate", person: "by a person", watchdog: "by the watchdog", demotion: "newer labels contradict the previous one", start: "found at service start" };

/** @type {import("../../panel.js").Panel} */
export const changes = {
  id: "models-changes",
  title: "Champion history",
  mount(body, app, scope) {
    const answer = new Answer(app, scope).watch((got) => show(body, got.content(({ changes: rows }) => list(rows))));
    let known = "";
    scope.add(app.store.watch(["reward_models"], ({ reward_models: models }) => {
      const now = JSON.stringify([models.champion?.version, models.champion?.since, models.champion?.pinned, models.withdrawn]);
      if (now !== known) void answer.ask(PATH);
      known = now;
    }));
  },
};

/** @param {any[]} rows  oldest first */
function list(rows) {
  if (!rows.length) return empty("No changes yet.");
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Champion changes" },
    h("ol", { class: "changes" }, ...rows.slice(-SHOWN).reverse().map(change)));
}

/** @param {any} row */
function change({ version, why, words, pinned, pin_reason: reason, pinned_until: until, withdrawn, changed_at: at }) {
  const state = withdrawn ? "was withdrawn" : pinned ? "is live, pinned" : "is live";
  const texts = new Set([withdrawn, pinned ? reason : null, words].filter(Boolean));
  return h("li", { "data-why": why }, h("span", { class: "sub" }, ago(at)),
    h("p", {}, h("a", { href: `/models/${version}` }, named(version)), ` ${state}`, h("span", { class: "tag plain" }, BY[why] ?? why),
      ...[...texts].map((text) => h("span", { class: "quiet-text reported" }, ` ${text}`)),
      pinned && until ? h("span", { class: "quiet-text" }, ", until ", h("time", { datetime: until }, new Date(until).toLocaleString())) : null));
}
