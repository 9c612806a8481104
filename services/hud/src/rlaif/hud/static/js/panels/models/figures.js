// How the models' pages write measurements: with number of pairs, interval, and the REST field that is shown.

import { Answer } from "../../api.js";
import { h, s } from "../../dom.js";
import { count, decimal, known, percent, reward, UNKNOWN } from "../../format.js";
import { cell, fig, from } from "../../parts.js";
import { idOf } from "../../segments/found.js";

export const MODELS = "/api/v1/reward-models";

/** Addresses of the lists. */
export const LIST = `${MODELS}?limit=100`;
export const REJECTED = `${MODELS}/rejected?limit=100`;

/** A version's name, with its snapshot field. @param {number} version */
export const named = (version) => fig(`reward_models.published.${version}.version`, `v${version}`);

/** @typedef {{value?: number | null, low?: number | null, high?: number | null}} Measured */

/** What an interval is, for a title. @param {number | null | undefined} confidence */
export const ofConfidence = (confidence) => (known(confidence) ? `Bootstrap interval over episodes; each bound at ${percent(confidence)} one-sided confidence` : "Bootstrap interval over episodes with one-sided bounds");

const WIDTH = 120;
const HEIGHT = 18;

/** A dot with its interval, and a line where the bound is. What it shows stands beside it as text. @param {Measured} measured @param {{range?: [number, number], bound?: number | null, holds?: boolean | null}} [more] */
export function whisker({ value = null, low = null, high = null }, { range = [0, 1], bound = null, holds = null } = {}) {
  const x = (/** @type {number} */ at) => 4 + (WIDTH - 8) * Math.min(1, Math.max(0, (at - range[0]) / (range[1] - range[0])));
  const middle = HEIGHT / 2;
  const from_ = low ?? value ?? high;
  const to = high ?? value ?? low;
  return s("svg", { class: "whisker", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, "aria-hidden": "true", "data-holds": holds === null ? null : String(holds) },
    s("line", { class: "axis", x1: 4, x2: WIDTH - 4, y1: middle, y2: middle }),
    bound === null ? null : s("line", { class: "bound", x1: x(bound), x2: x(bound), y1: 1, y2: HEIGHT - 1 }),
    from_ === null || to === null ? null : s("line", { class: "range", x1: x(from_), x2: x(to), y1: middle, y2: middle }),
    ...[low, high].filter((end) => end !== null).map((end) => s("line", { class: "range", x1: x(end), x2: x(end), y1: middle - 4, y2: middle + 4 })),
    value === null ? null : s("circle", { class: "dot", cx: x(value), cy: middle, r: 3.5 }));
}

/**
 * "81.2 % of 240 pairs", then its interval.
 *
 * @param {string} path
 * @param {string} prefix  of the fields: "first_accuracy."
 * @param {{value: number | null, low: number | null, high: number | null, pairs: number}} measured
 * @param {{confidence?: number | null, names?: Record<"value" | "low" | "high" | "pairs", string>}} [more]  names: of the fields, where they are others
 */
export function accuracy(path, prefix, { value, low, high, pairs }, { confidence = null, names = { value: "value", low: "low", high: "high", pairs: "pairs" } } = {}) {
  return h("span", {}, h("b", {}, from(path, `${prefix}${names.value}`, percent(value))), " of ", from(path, `${prefix}${names.pairs}`, count(pairs)), " pairs ",
    value === null ? null : h("span", { class: "quiet-text", title: ofConfidence(confidence) }, "(", ends(path, prefix, { low, high }, percent, names), ")"));
}

/** The two ends, each with its field. @param {string} path @param {string} prefix @param {Measured} measured @param {(value: any) => string} write @param {{low: string, high: string}} [names] */
export function ends(path, prefix, { low, high }, write, names = { low: "low", high: "high" }) {
  const end = (/** @type {"low" | "high"} */ name, /** @type {number | null | undefined} */ value) => from(path, `${prefix}${names[name]}`, write(value));
  if (!known(low) && !known(high)) return h("span", {}, UNKNOWN);
  if (!known(high)) return h("span", {}, "at least ", end("low", low));
  if (!known(low)) return h("span", {}, "at most ", end("high", high));
  return h("span", {}, end("low", low), " to ", end("high", high));
}

/** A probability or ratio as the gate has it: shares in per cent. @param {string} name @param {number | null | undefined} value */
export function measured(name, value) {
  if (!known(value)) return UNKNOWN;
  if (name.includes("accuracy")) return percent(value);
  if (name.startsWith("permutation")) return small(Number(value));
  if (name.includes("gain")) return reward(value);
  return decimal(value);
}

/** A probability with two digits that say something; never 0. @param {number} value */
const small = (value) => (value < 1e-9 ? "< 0.000000001" : value.toFixed(Math.max(2, 1 - Math.floor(Math.log10(value)))));

/** A digest or candidate id, short, with a button that copies it. @param {string} id @param {number} [letters] */
export const shortId = (id, letters = 10) => idOf(id, "the id", id.length > letters + 1 ? `${id.slice(0, letters)}…` : id);

/** @typedef {import("../../dom.js").Child} Child */

/** Headings of `fitted`. */
export const FITTED = ["Held-out pairs", "Interval", "Trained on"];

/**
 * What the gate measured on held-out pairs, its interval, and what the network was made of.
 *
 * @param {any} row  accuracy, labels and episodes
 * @param {object} how
 * @param {(name: string, text: string) => Child} how.figure  names the field of a number of the row
 * @param {Child} how.pairs  how many pairs; null if not reported
 * @param {any} how.metrics  the gate's record; null where it is not known
 * @param {[string, string]} how.source  REST document of the record and the path of its metrics in it
 * @param {Child[]} [how.more]  of what it was made of
 */
export function fitted(row, { figure, pairs, metrics, source: [path, prefix], more = [] }) {
  const heldout = { value: row.heldout_accuracy, low: metrics?.heldout_accuracy_low ?? null, high: metrics?.heldout_accuracy_high ?? null };
  return [
    cell(FITTED[0], h("b", {}, figure("heldout_accuracy", percent(row.heldout_accuracy))), pairs ? h("small", {}, "of ", pairs, " pairs") : null),
    cell(FITTED[1], whisker(heldout, { bound: 0.5 }), h("small", { title: ofConfidence(null) }, metrics ? ends(path, `${prefix}heldout_accuracy_`, heldout, percent) : "—")),
    cell(FITTED[2], figure("labels", count(row.labels)), " labels from ", figure("episodes", count(row.episodes)), " episodes", ...more),
  ];
}

/** Changes when the service has something new to say about the models. @param {any} models  section reward_models */
export function signature(models) {
  const live = models.champion;
  return JSON.stringify([live?.version, live?.since, live?.pinned, live?.pin_reason, models.withdrawn, models.rejected_count, models.published.map((/** @type {any} */ row) => [row.version, row.loaded_at_steps.length])]);
}

export class Records {
  /** @param {import("../../app.js").App} app @param {import("../../dom.js").Scope} scope */
  constructor(app, scope) {
    this.list = new Answer(app, scope);
    this.rejections = new Answer(app, scope);
    let known = "";
    scope.add(app.store.watch(["reward_models"], ({ reward_models: models }) => {
      if (signature(models) === known) return;
      known = signature(models);
      void this.list.ask(LIST);
      void this.rejections.ask(REJECTED);
    }));
  }

  /** Index and record of each version, by version. @returns {Map<number, {index: number, manifest: any}>} */
  get manifests() {
    const items = this.list.value?.items ?? [];
    return new Map(items.map((/** @type {any} */ manifest, /** @type {number} */ index) => [manifest.version, { index, manifest }]));
  }
}
