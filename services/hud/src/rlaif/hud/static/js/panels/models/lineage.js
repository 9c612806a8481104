// The lineage: every version and refused candidate in time, how well it ranks what it never saw, and what it came from.

import { h, s, show } from "../../dom.js";
import { count, percent } from "../../format.js";
import { empty } from "../../parts.js";
import { LIST, REFUSED, from } from "./figures.js";
import { MOST, everyNth, layout } from "./lineage-layout.js";

const HEIGHT = 240;
const BOX = { height: HEIGHT, left: 52, right: 62, top: 18, bottom: 40 };
const NAME = 44; // widest name or count, pixels

/** @param {import("./records.js").Records} records @returns {import("../../panel.js").Panel} */
export function lineage(records) {
  /** @type {any} */
  let models = null;
  /** @type {() => void} */
  let redraw = () => {};
  return {
    id: "models-lineage",
    title: "Lineage: held-out accuracy by version",
    sections: ["reward_models"],
    draw(_body, state) {
      models = state.reward_models;
      redraw();
    },
    mount(body, app, scope) {
      let drawn = "";
      redraw = () => {
        if (!models) return;
        const attempts = attemptsOf(models, records);
        const key = JSON.stringify([attempts, models.champion?.version, body.clientWidth]);
        if (key === drawn) return;
        drawn = key;
        show(body, ...picture(attempts, models.champion?.version ?? null, body.clientWidth, app));
      };
      scope.add(records.watch(redraw));
      const sized = new ResizeObserver(() => redraw());
      sized.observe(body);
      scope.add(() => sized.disconnect());
    },
  };
}

/** Versions and refused candidates, with the service's intervals where they are known. @param {any} models @param {import("./records.js").Records} records @returns {import("./lineage-layout.js").Attempt[]} */
export function attemptsOf(models, records) {
  const { manifests, refused } = records;
  const details = new Map(refused.map((row) => [row.candidate_id, row]));
  const interval = (/** @type {any} */ metrics) => ({ low: metrics?.heldout_accuracy_low ?? null, high: metrics?.heldout_accuracy_high ?? null });
  const versions = models.published.map((/** @type {any} */ row) => ({
    key: `v${row.version}`, version: row.version, parent: row.parent_version, index: manifests.get(row.version)?.index,
    at: Date.parse(row.published_at), value: row.heldout_accuracy, ...interval(manifests.get(row.version)?.manifest.metrics),
    labels: row.labels, pairs: row.heldout_pairs,
  }));
  const rows = refused.length ? refused : models.rejected;
  const others = rows.map((/** @type {any} */ row) => ({
    key: row.candidate_id, version: null, parent: null,
    at: Date.parse(row.rejected_at), value: row.heldout_accuracy, ...interval(details.get(row.candidate_id)?.metrics),
    labels: row.labels, pairs: details.get(row.candidate_id)?.metrics?.heldout_pairs ?? null,
  }));
  return [...versions, ...others];
}

/** @param {any[]} attempts @param {number | null} champion @param {number} width @param {import("../../app.js").App} app */
function picture(attempts, champion, width, app) {
  if (!attempts.length) return [empty("No version published or rejected yet.")];
  const box = { ...BOX, width: Math.max(280, width) };
  const { points, edges, bounds, hidden } = layout(attempts, box);
  const y = (/** @type {number} */ value) => HEIGHT - BOX.bottom - ((value - bounds[0]) / (bounds[1] - bounds[0])) * (HEIGHT - BOX.top - BOX.bottom);
  const nth = everyNth(points.length, box.width - BOX.left - BOX.right, NAME);
  const note = h("figcaption", {}, legend());
  const svg = s("svg", { class: "lineage", viewBox: `0 0 ${box.width} ${HEIGHT}`, role: "group", "aria-label": `Lineage of ${points.length} attempts, oldest first. Each version is a link; the tables below list the same values.` },
    ...scale(bounds, y, box.width),
    ...edges.map(({ from: one, to }) => s("path", { class: "edge", d: `M${one.x},${one.y} C${(one.x + to.x) / 2},${one.y} ${(one.x + to.x) / 2},${to.y} ${to.x},${to.y}` })),
    ...points.map((point, index) => mark(point, { champion, named: point.version === champion || index % nth === 0, app, note })));
  return [h("figure", {}, svg, note), hidden ? h("p", { class: "sub" }, `Showing the latest ${MOST}; ${count(hidden)} older ones are hidden.`) : null];
}

const legend = () => "● published, ★ live, ✕ rejected by the gate. Lines connect a version to its successor. Bars are bootstrap intervals over episodes.";

/** @param {[number, number]} bounds @param {(value: number) => number} y @param {number} width */
function scale([low, high], y, width) {
  const lines = [...new Set([low, 0.5, 0.75, high])].filter((value) => value >= low);
  return lines.flatMap((value) => [
    s("line", { class: value === 0.5 ? "chance" : "axis", x1: BOX.left - 8, x2: width - BOX.right + 12, y1: y(value), y2: y(value) }),
    s("text", { class: "scale", x: BOX.left - 12, y: y(value) + 4, "text-anchor": "end" }, percent(value)),
    value === 0.5 ? s("text", { class: "scale", x: width - BOX.right + 16, y: y(value) + 4 }, "chance") : null,
  ]).filter((each) => each !== null);
}

/** One attempt: its interval, its sign, its name. @param {any} point @param {{champion: number | null, named: boolean, app: import("../../app.js").App, note: HTMLElement}} how */
function mark(point, { champion, named, app, note }) {
  const { version, x, y, yLow, yHigh } = point;
  const at = y ?? HEIGHT - BOX.bottom;
  const words = describe(point, champion);
  const tell = () => show(note, words, ...figuresOf(point));
  const untell = () => show(note, legend());
  const sign = version === null
    ? s("path", { class: "refused", d: `M${x - 4},${at - 4} l8,8 m0,-8 l-8,8` })
    : version === champion ? s("text", { class: "champion", x, y: at + 6, "text-anchor": "middle" }, "★") : s("circle", { class: "published", cx: x, cy: at, r: 5 });
  const parts = [
    yLow !== null && yHigh !== null ? s("line", { class: "range", x1: x, x2: x, y1: yLow, y2: yHigh }) : null,
    s("rect", { class: "target", x: x - 12, y: BOX.top, width: 24, height: HEIGHT - BOX.top - 4 }),
    sign,
    version !== null && named ? s("text", { class: "name", x, y: HEIGHT - BOX.bottom + 16, "text-anchor": "middle", "data-figure": `reward_models.published.${version}.version` }, `v${version}`) : null,
    version !== null && named ? s("text", { x, y: HEIGHT - BOX.bottom + 30, "text-anchor": "middle", "data-figure": `reward_models.published.${version}.labels` }, count(point.labels)) : null,
  ];
  const listens = { onpointerenter: tell, onpointerleave: untell, onfocus: tell, onblur: untell };
  if (version === null) return s("g", { ...listens, "data-refused": point.key }, ...parts);
  const open = (/** @type {Event} */ event) => {
    event.preventDefault();
    app.go(`/models/${version}`);
  };
  return s("a", { ...listens, href: `/models/${version}`, "data-version": version, onclick: open }, s("title", {}, words), ...parts);
}

/** @param {any} point @param {number | null} champion */
function describe({ key, version, labels, pairs, value }, champion) {
  const who = version === null ? `Refused ${key},` : `${version === champion ? "Live: " : ""}v${version}`;
  const worth = value === null ? "not measured" : `${percent(value)}${pairs === null ? "" : ` of ${count(pairs)} held-out pairs`}`;
  return `${who} ${count(labels)} labels: ${worth}`;
}

/** The interval under the pointer, with the fields that it shows. @param {any} point */
function figuresOf({ version, low, high, key, index }) {
  if (low === null || high === null) return [];
  const [path, field] = version === null ? [REFUSED, `items.${key}.metrics.`] : [LIST, `items.${index}.manifest.metrics.`];
  return [" (", from(path, `${field}heldout_accuracy_low`, percent(low)), " to ", from(path, `${field}heldout_accuracy_high`, percent(high)), ")"];
}
