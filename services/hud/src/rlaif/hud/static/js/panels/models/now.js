// The live model: its state and accuracy, what the next one waits for, and the changes that a person can make.

import { confirmChange } from "../../change.js";
import { h, show } from "../../dom.js";
import { ago, count, percent } from "../../format.js";
import { empty, fig, listed } from "../../parts.js";
import { pinnedUntil } from "../loop.js";
import { MODELS } from "./figures.js";

const RANKERS = [
  ["best_slot_accuracy", "best single slot", "The single observation slot with the highest accuracy"],
  ["ridge_accuracy", "linear fit", "Ridge regression on the same observation"],
];

/** @type {import("../../parts.js").Panel} */
export const now = {
  id: "models-now",
  title: "Live model",
  sections: ["reward_models"],
  draw(body, { reward_models: models }, app) {
    const key = JSON.stringify([models.champion, models.withdrawn, models.next]);
    if (body.dataset.drawn === key) return; // what has the focus keeps it
    body.dataset.drawn = key;
    show(body, withdrawn(models), live(models.champion, models), pinNotice(models.champion), passed(models.champion), next(models.next), actions(models.champion, app));
  },
};

function withdrawn(models) {
  if (!models.withdrawn) return null;
  return h("p", { class: "notice", "data-tone": "bad" }, h("b", {}, "No model is live"), ": ", h("span", { class: "reported" }, models.withdrawn), ". There is no shaping reward until a candidate passes the gate or a version is made live manually.");
}

function live(champion, models) {
  if (champion) {
    return h("p", { class: "live-line" }, h("a", { href: `/models/${champion.version}` }, fig("reward_models.champion.version", `v${champion.version}`)), " is live",
      champion.since ? h("span", { class: "quiet-text" }, " for ", ago(champion.since, { suffix: "" })) : null,
      champion.pinned ? h("span", { class: "tag warn" }, "⚲ pinned") : null,
      champion.pinned === null ? h("span", { class: "quiet-text" }, ", pin unknown") : null);
  }
  if (models.withdrawn) return null;
  return empty(models.rejected_count === null ? "Unknown: the HUD is not connected to the event streams." : "No reward model yet. The first one is trained once enough segments are scored, and published if it passes the gate.");
}

function pinNotice(live) {
  if (!live || !(live.pinned || live.rolled_back_from)) return null;
  return h("p", { class: "notice" },
    h("b", {}, "Champion ", fig("reward_models.champion.version", `v${live.version}`)),
    live.rolled_back_from ? h("span", {}, ": rolled back from ", fig("reward_models.champion.rolled_back_from", `v${live.rolled_back_from}`), live.since ? " " : "", live.since ? ago(live.since) : "") : null,
    live.pinned ? h("span", {}, "; ", ...pinnedUntil(live)) : null,
    live.pinned && live.pin_reason ? h("span", { class: "quiet-text reported" }, ` — ${live.pin_reason}`) : null);
}

/** Held-out accuracy of the champion's shaping reward next to the baselines; unknown values are omitted. @param {any} live */
function passed(live) {
  const gate = live?.gate;
  const known = (/** @type {string} */ name) => typeof gate?.[name] === "number";
  if (!known("paid_accuracy")) return null;
  const figure = (/** @type {string} */ name, write = percent) => fig(`reward_models.champion.gate.${name}`, write(gate[name]));
  const others = RANKERS.filter(([name]) => known(name)).flatMap(([name, text, title]) => [", ", h("span", { title }, `${text} `, figure(name))]);
  return h("p", { class: "next", title: "Held-out pairs from separate episodes, decided by the judges" },
    fig("reward_models.champion.version", `v${live.version}`), " accuracy on judged pairs: ", h("span", { title: "By the shaping reward that the trainer applies to these segments" }, "by shaping reward ", h("b", {}, figure("paid_accuracy"))),
    known("heldout_accuracy_low") && known("heldout_accuracy_high") ? h("span", {}, " (", figure("heldout_accuracy_low"), " to ", figure("heldout_accuracy_high"), " of ", figure("heldout_pairs", count), " pairs)") : null,
    ...others,
    ...(RANKERS.some(([name]) => gate[name] > gate.paid_accuracy) ? ["; it is below the simple predictors by no more than ", h("a", { href: `/models/${live.version}` }, "the gate allows")] : []),
    ", chance ", h("span", { class: "scale" }, "50 %"),
    ...(known("llm_only_share") ? ["; ", figure("llm_only_share"), " of the pairs cannot be decided from the game's memory"] : []));
}

function next(model) {
  if (!model) return null;
  if (model.state === "training") return h("p", { class: "next" }, "Next model: training on ", fig("reward_models.next.labels", count(model.labels)), " labels");
  if (!model.missing.length) return null;
  const parts = model.missing.map((/** @type {any} */ { what, have, need }) => h("span", {},
    fig(`reward_models.next.missing.${what}.have`, count(have)), " of ", fig(`reward_models.next.missing.${what}.need`, count(need)), ` ${what}`));
  return h("p", { class: "next" }, "Next model: ", ...listed(parts));
}

function actions(champion, app) {
  const button = (/** @type {string} */ text, /** @type {() => void} */ run) => h("button", { type: "button", onclick: run }, text);
  return h("p", { class: "actions" },
    champion ? (champion.pinned ? button("Unpin…", () => unpinIt(app, champion.version)) : button("Pin…", () => pinIt(app, champion.version))) : null,
    button("Train now…", () => trainNow(app)));
}

/** @typedef {import("../../app.js").App} App */

/** Make a version live. @param {App} app @param {number} version @param {number | null} live */
export const activate = (app, version, live) => confirmChange(app, {
  title: `Make v${version} live`, verb: `Make v${version} live`, purpose: `make v${version} live`, reason: true, pin: true,
  text: `The trainer loads v${version} within a few iterations${live === null ? "" : `, in place of v${live}`}. Both versions are kept, so you can switch back.`,
  run: (how) => app.api.post(`${MODELS}/${version}/activate`, how),
  done: `Version ${version} is live`,
});

/** @param {App} app @param {number} version */
export const pinIt = (app, version) => confirmChange(app, {
  title: `Pin v${version}`, verb: "Pin it", purpose: "pin the champion", reason: true,
  text: "Until it is unpinned, no candidate replaces it and newer labels do not withdraw it. A watchdog alarm still rolls back to the previous version.",
  run: ({ reason }) => app.api.write("PUT", `${MODELS}/champion/pin`, { reason }),
  done: `Version ${version} is pinned`,
});

/** @param {App} app @param {number} version */
export const unpinIt = (app, version) => confirmChange(app, {
  title: `Unpin v${version}`, verb: "Unpin it", purpose: "unpin the champion",
  text: "Candidates that pass the gate can replace it again. A new candidate is trained soon.",
  run: () => app.api.write("DELETE", `${MODELS}/champion/pin`),
  done: `Version ${version} is no longer pinned`,
});

const trainNow = (app) => confirmChange(app, {
  title: "Train now", verb: "Train now", purpose: "start a training",
  text: "Trains a candidate on the current labels, even if few of them are new. The gate applies unchanged.",
  run: () => app.api.post(MODELS),
  done: "Training requested",
});
