// How often this version is right where it is how sure: today's held-out pairs in bins of its own probability.

import { h, s, show } from "../../../dom.js";
import { count, decimal, percent } from "../../../format.js";
import { empty } from "../../../parts.js";
import { accuracy, ends, from, ofConfidence } from "../figures.js";

const SIZE = 240;
const PAD = { left: 44, right: 12, top: 12, bottom: 36 };
const ends_ = [0.5, 0.75, 1];

/** @param {HTMLElement} body @param {any} report @param {string} path */
export function drawCalibration(body, report, path) {
  const { reliability: bins, calibration_error: error, confidence } = report;
  const summary = h("p", {}, "On the current labels: ", accuracy(path, "accuracy.", report.accuracy, { confidence }), "; calibration error ", h("b", {}, from(path, "calibration_error", decimal(error))), ".");
  if (!bins.length) return show(body, summary, empty("No held-out pair is decided by the judges, so calibration cannot be measured."));
  show(body, summary, h("div", { class: "beside" }, picture(bins), table(bins, path, confidence)));
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
function table(bins, path, confidence) {
  return h("table", { class: "bins" },
    h("thead", {}, h("tr", {}, ...["Confidence", "Accuracy", "Pairs"].map((head) => h("th", { scope: "col" }, head)))),
    h("tbody", {}, ...bins.map(({ expected, right, low, high, pairs }, index) => h("tr", {},
      h("td", {}, from(path, `reliability.${index}.expected`, percent(expected))),
      h("td", { "data-label": "Accuracy" }, from(path, `reliability.${index}.right`, percent(right)), h("small", { title: ofConfidence(confidence) }, ends(path, `reliability.${index}.`, { low, high }, percent))),
      h("td", { "data-label": "Pairs" }, from(path, `reliability.${index}.pairs`, count(pairs)))))));
}
