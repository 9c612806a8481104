// What this version pays for: the pay of labelled segments, dealt among the numbers of the observation.

import { h, show } from "../../../dom.js";
import { count } from "../../../format.js";
import { empty } from "../../../parts.js";
import { from } from "../figures.js";

const SHOWN = 12;
const GROUPS = { player: "the player", room: "the room", items: "items", flags: "game flags", puzzle: "room puzzle", exploration: "exploration", walls: "walls", entities: "nearby entities", unknown: "other" };

const three = new Intl.NumberFormat("en-US", { minimumFractionDigits: 3, maximumFractionDigits: 3, signDisplay: "exceptZero" });
/** Pay is small: three places, with its sign. @param {number | null} value */
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

/** @param {HTMLElement} body @param {any} _ @param {string} path */
export function drawPays(body, { pay: data }, path) {
  if (!data.segments) return show(body, empty("No labels."));
  if (!data.slots.length) return show(body, empty("The shaping reward is zero for all labelled segments."));
  const all = h("tbody", {}, ...data.slots.map((/** @type {any} */ slot, /** @type {number} */ index) => row(slot, index, data, path)));
  const more = h("button", { type: "button", class: "quiet small", "aria-expanded": "false", onclick: () => {
    const open = more.getAttribute("aria-expanded") === "false";
    more.setAttribute("aria-expanded", String(open));
    more.textContent = open ? "Fewer" : `All ${data.slots.length}`;
    for (const line of [...all.children].slice(SHOWN)) /** @type {HTMLElement} */ (line).hidden = !open;
  } }, `All ${data.slots.length}`);
  for (const line of [...all.children].slice(SHOWN)) /** @type {HTMLElement} */ (line).hidden = true;
  show(body,
    h("p", {}, "Over the latest ", from(path, "pay.segments", count(data.segments)), " labelled segments, the mean shaping reward is ", h("b", {}, from(path, "pay.mean_pay", pay(data.mean_pay))), ", and its mean absolute value ", h("b", {}, from(path, "pay.mean_absolute_pay", pay(data.mean_absolute_pay).replace("+", ""))), ". ",
      h("span", { class: "quiet-text" }, "The contributions of the slots sum to the segment's shaping reward; the numerical error is at most ", from(path, "pay.largest_rest", data.largest_rest.toFixed(6)), ".")),
    h("ul", { class: "groups", "aria-label": "By group" }, ...byGroup(data.slots).map(({ group, mean_absolute: size }) => h("li", {}, h("span", {}, /** @type {Record<string, string>} */ (GROUPS)[group] ?? group), share(size, data.slots)))),
    h("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": "Shaping reward by slot" },
      h("table", { class: "slots" },
        h("thead", {}, h("tr", {}, ...["Observation slot", "Mean", "", "Mean absolute", "Segments"].map((head) => h("th", { scope: "col" }, head || h("span", { class: "visually-hidden" }, "Picture"))))), all)),
    data.slots.length > SHOWN ? more : null);
}

/** @param {number} size @param {{mean_absolute: number}[]} slots */
function share(size, slots) {
  const fill = h("i");
  fill.style.width = `${(100 * size) / slots.reduce((sum, slot) => sum + slot.mean_absolute, 0)}%`;
  return h("span", { class: "bar01", title: "Share of the total absolute contribution" }, fill);
}

/** @param {any} slot @param {number} index @param {any} data @param {string} path */
function row({ name, group, meaning, mean, mean_absolute: size, segments }, index, data, path) {
  const most = Math.max(...data.slots.map((/** @type {any} */ each) => Math.abs(each.mean))) || 1;
  const part = (50 * Math.abs(mean)) / most;
  const bar = h("i", { "data-sign": mean < 0 ? "minus" : "plus" });
  bar.style.width = `${part}%`;
  bar.style.left = mean < 0 ? `${50 - part}%` : "50%";
  const field = `pay.slots.${index}.`;
  return h("tr", { "data-slot": name },
    h("td", {}, h("code", { title: meaning }, name), h("small", {}, /** @type {Record<string, string>} */ (GROUPS)[group] ?? group)),
    h("td", { "data-label": "Mean" }, from(path, `${field}mean`, pay(mean))),
    h("td", {}, h("span", { class: "both", "aria-hidden": "true" }, bar)),
    h("td", { "data-label": "Mean absolute" }, from(path, `${field}mean_absolute`, pay(size).replace("+", ""))),
    h("td", { "data-label": "Segments" }, from(path, `${field}segments`, count(segments))));
}
