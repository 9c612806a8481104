// A version on the current labels: its calibration, and its shaping reward by slot of the observation.

import { h, s } from "../../../dom.js";
import { count, decimal, percent } from "../../../format.js";
import { bar, bothBar, cell, empty, from, table } from "../../../parts.js";
import { accuracy, ends, ofConfidence } from "../figures.js";

const SIZE = 240;
const PAD = { left: 44, right: 12, top: 12, bottom: 36 };
const ends_ = [0.5, 0.75, 1];

/** How often the version is right, by how certain it is. @param {any} report @param {string} path */
export function calibrationOf(report, path) {
  const { reliability: bins, calibration_error: error, confidence } = report;
  const summary = h("p", {}, "On the current labels: ", accuracy(path, "accuracy.", report.accuracy, { confidence }), "; calibration error ", h("b", {}, from(path, "calibration_error", decimal(error))), ".");
  if (!bins.length) return h("div", {}, summary, empty("No held-out pair is decided by the judges, so calibration cannot be measured."));
  return h("div", {}, summary, h("div", { class: "beside" }, picture(bins), binTable(bins, path, confidence)));
}

const x = (/** @type {number} */ value) => PAD.left + ((value - 0.5) / 0.5) * (SIZE - PAD.left - PAD.right);
const y = (/** @type {number} */ value) => SIZE - PAD.bottom - value * (SIZE - PAD.top - PAD.bottom);

/** @param {any[]} bins */
function picture(bins) {
  const most = Math.max(...bins.map(({ pairs }) => pairs));
  return h("figure", { class: "calibration" },
    s("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, width: SIZE, height: SIZE, role: "img", "aria-label": "Accuracy by confidence; the table next to it lists the values" },
      ...ends_.map((value) => s("text", { class: "scale", x: x(value), y: SIZE - PAD.bottom + 16, "text-anchor": "middle" }, percent(value))),
      ...[0, 0.5, 1].flatMap((value) => [s("line", { class: "axis", x1: x(0.5), x2: x(1), y1: y(value), y2: y(value) }), s("text", { class: "scale", x: PAD.left - 6, y: y(value) + 4, "text-anchor": "end" }, percent(value))]),
      s("line", { class: "exact", x1: x(0.5), y1: y(0.5), x2: x(1), y2: y(1) }),
      ...bins.filter(({ right }) => right !== null).flatMap(({ expected, right, low, high, pairs }) => [
        s("line", { class: "range", x1: x(expected), x2: x(expected), y1: y(low ?? right), y2: y(high ?? right) }),
        s("circle", { class: "dot", cx: x(expected), cy: y(right), r: 3 + 4 * Math.sqrt(pairs / most) }),
      ]),
      s("text", { class: "scale", x: (x(0.5) + x(1)) / 2, y: SIZE - 4, "text-anchor": "middle" }, "confidence")),
    h("figcaption", {}, "Points on the line are well-calibrated; points below it are overconfident. Larger points represent more pairs."));
}

/** @param {any[]} bins @param {string} path @param {number} confidence */
function binTable(bins, path, confidence) {
  const rows = bins.map(({ expected, right, low, high, pairs }, index) => h("tr", {},
    h("td", {}, from(path, `reliability.${index}.expected`, percent(expected))),
    cell("Accuracy", from(path, `reliability.${index}.right`, percent(right)), h("small", { title: ofConfidence(confidence) }, ends(path, `reliability.${index}.`, { low, high }, percent))),
    cell("Pairs", from(path, `reliability.${index}.pairs`, count(pairs)))));
  return table({ look: "bins", heads: ["Confidence", "Accuracy", "Pairs"], rows }).frame;
}

const SHOWN = 12;
/** @type {Record<string, string>} */
const GROUPS = { player: "the player", room: "the room", items: "items", flags: "game flags", puzzle: "room puzzle", exploration: "exploration", walls: "walls", entities: "nearby entities", unknown: "other" };

const three = new Intl.NumberFormat("en-US", { minimumFractionDigits: 3, maximumFractionDigits: 3, signDisplay: "exceptZero" });
/** A small amount: three places, with its sign. @param {number | null} value */
export const pay = (value) => (value === null ? "—" : three.format(value).replace("-", "−"));

/** Sums by group, the largest first. @param {{group: string, mean: number, mean_absolute: number}[]} slots */
export function byGroup(slots) {
  /** @type {Map<string, {group: string, mean: number, mean_absolute: number, slots: number}>} */
  const found = new Map();
  for (const { group, mean, mean_absolute: size } of slots) {
    const sum = found.get(group) ?? { group, mean: 0, mean_absolute: 0, slots: 0 };
    found.set(group, { group, mean: sum.mean + mean, mean_absolute: sum.mean_absolute + size, slots: sum.slots + 1 });
  }
  return [...found.values()].sort((a, b) => b.mean_absolute - a.mean_absolute);
}

/** Shaping reward of labelled segments, distributed over the slots of the observation. @param {any} report @param {string} path */
export function slotsOf({ pay: data }, path) {
  if (!data.segments) return empty("No labels.");
  if (!data.slots.length) return empty("The shaping reward is zero for all labelled segments.");
  const most = Math.max(...data.slots.map((/** @type {any} */ each) => Math.abs(each.mean))) || 1;
  const total = data.slots.reduce((/** @type {number} */ sum, /** @type {any} */ slot) => sum + slot.mean_absolute, 0);
  const { frame, body } = table({ name: "Shaping reward by slot", look: "slots", region: "scroll tall", heads: ["Observation slot", "Mean", { hidden: "Picture" }, "Mean absolute", "Segments"], rows: data.slots.map((/** @type {any} */ slot, /** @type {number} */ index) => row(slot, index, most, path)) });
  return h("div", {},
    h("p", {}, "Over the latest ", from(path, "pay.segments", count(data.segments)), " labelled segments, the mean shaping reward is ", h("b", {}, from(path, "pay.mean_pay", pay(data.mean_pay))), ", and its mean absolute value ", h("b", {}, from(path, "pay.mean_absolute_pay", pay(data.mean_absolute_pay).replace("+", ""))), ". ",
      h("span", { class: "quiet-text" }, "The contributions of the slots sum to the segment's shaping reward; the numerical error is at most ", from(path, "pay.largest_rest", data.largest_rest.toFixed(6)), ".")),
    h("ul", { class: "groups", "aria-label": "By group" }, ...byGroup(data.slots).map(({ group, mean_absolute: size }) => h("li", {}, h("span", {}, GROUPS[group] ?? group), bar(size / total, { title: "Share of the total absolute contribution" })))),
    frame, moreButton([...body.children].slice(SHOWN), data.slots.length));
}

/** Shows and hides the later rows. @param {Element[]} rows @param {number} all */
function moreButton(rows, all) {
  if (!rows.length) return null;
  const button = h("button", { type: "button", class: "quiet small", onclick: () => toggle(button.getAttribute("aria-expanded") === "false") });
  const toggle = (/** @type {boolean} */ open) => {
    button.setAttribute("aria-expanded", String(open));
    button.textContent = open ? "Fewer" : `All ${all}`;
    for (const row of rows) /** @type {HTMLElement} */ (row).hidden = !open;
  };
  toggle(false);
  return button;
}

/** @param {any} slot @param {number} index @param {number} most @param {string} path */
function row({ name, group, meaning, mean, mean_absolute: size, segments }, index, most, path) {
  const field = `pay.slots.${index}.`;
  return h("tr", { "data-slot": name },
    h("td", {}, h("code", { title: meaning }, name), h("small", {}, GROUPS[group] ?? group)),
    cell("Mean", from(path, `${field}mean`, pay(mean))),
    h("td", {}, bothBar(mean, most)),
    cell("Mean absolute", from(path, `${field}mean_absolute`, pay(size).replace("+", ""))),
    cell("Segments", from(path, `${field}segments`, count(segments))));
}
