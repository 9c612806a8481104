// Champion history, by the events that are kept: gone live, pinned, taken out of use, and who did it.

import { Answer, whyNot } from "../../answer.js";
import { ago } from "../../clock.js";
import { h, show } from "../../dom.js";
import { empty } from "../../parts.js";
import { named } from "./figures.js";

const PATH = "/api/v1/history?points=2";
const SHOWN = 100;
const BY = { gate: "passed the gate", person: "by a person", watchdog: "by the watchdog", demotion: "newer labels contradict the previous one", start: "found at service start" };

/** @type {import("../../panel.js").Panel} */
export const changes = {
  id: "models-changes",
  title: "Champion history",
  sections: ["reward_models"],
  draw(body, { reward_models: models }) {
    const key = JSON.stringify([models.champion?.version, models.champion?.since, models.champion?.pinned, models.withdrawn]);
    if (body.dataset.key === key) return;
    body.dataset.key = key;
    body.dispatchEvent(new CustomEvent("outdated"));
  },
  mount(body, app, scope) {
    const frame = /** @type {HTMLElement} */ (body.parentElement);
    const answer = new Answer(app, scope, (/** @type {any} */ got) => {
      frame.hidden = got.problem?.status === 404; // a HUD that keeps no history
      if (got.problem) return show(body, whyNot(got.problem, () => answer.ask()));
      if (got.value) show(body, ...list(got.value.changes ?? []));
    });
    scope.on(body, "outdated", () => void answer.ask(PATH));
  },
};

/** @param {any[]} rows  oldest first */
function list(rows) {
  if (!rows.length) return [empty("No changes yet.")];
  return [h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Champion changes" },
    h("ol", { class: "changes" }, ...rows.slice(-SHOWN).reverse().map(change)))];
}

/** @param {any} row */
function change({ version, why, words, pinned, pin_reason: reason, pinned_until: until, withdrawn, changed_at: at }) {
  const what = withdrawn ? "was withdrawn" : pinned ? "is live, pinned" : "is live";
  return h("li", { "data-why": why }, h("span", { class: "sub" }, ago(at)),
    h("p", {}, h("a", { href: `/models/${version}` }, named(version)), ` ${what}`, h("span", { class: "tag plain" }, /** @type {Record<string, string>} */ (BY)[why] ?? why),
      ...[withdrawn, pinned ? reason : null, words].filter((each, index, all) => each && all.indexOf(each) === index).map((text) => h("span", { class: "quiet-text reported" }, ` ${text}`)),
      pinned && until ? h("span", { class: "quiet-text" }, ", until ", h("time", { datetime: until }, new Date(until).toLocaleString())) : null));
}
