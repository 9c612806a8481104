// Potential of the state on the screen, and the recent shaping reward.

import { h, s, show } from "../dom.js";
import { count, reward } from "../format.js";
import { fig } from "../parts.js";

const HEIGHT = 34; // pixels; the middle is 0
const BAR = 9;
const LEAST = 0.05; // a pay of this height fills its half at least: noise stays small

export function drawWorth(element, { pay, screen }) {
  if (!screen) return show(element);
  const known = pay && pay.env === screen.env ? pay : null;
  show(element,
    h("p", { title: "Potential of the state on the screen according to the live reward model" },
      h("span", { class: "label" }, "Φ "), h("b", {}, fig(known ? "pay.potential" : null, reward(known?.potential))),
      known?.reward_model_version ? h("span", { class: "label" }, " by ", fig("pay.reward_model_version", `v${known.reward_model_version}`)) : h("span", { class: "label" }, " no reward model yet")),
    known?.paid ? sparkline(known.paid) : null,
    h("p", { title: "Shaping reward of the player at full weight; positive values mean progress" },
      h("span", { class: "label" }, "shaping "), h("b", { "data-sign": sign(known?.paid_sum) }, fig(known ? "pay.paid_sum" : null, reward(known?.paid_sum))),
      known?.paid ? h("span", { class: "label" }, " in ", fig("pay.paid_seconds", count(known.paid_seconds)), " s") : null));
}

/** One bar for each stretch of time, oldest left; up is earned, down is lost. */
function sparkline(paid) {
  const most = Math.max(LEAST, ...paid.map(Math.abs));
  const bars = paid.map((amount, index) => {
    const height = (Math.abs(amount) / most) * (HEIGHT / 2 - 1);
    return s("rect", { class: amount < 0 ? "minus" : "plus", x: index * BAR, width: BAR - 2, y: amount < 0 ? HEIGHT / 2 : HEIGHT / 2 - height, height });
  });
  const width = paid.length * BAR;
  return s("svg", { class: "sparkline", viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, role: "img", "aria-label": `Recent shaping reward: maximum ${reward(Math.max(...paid))}, minimum ${reward(Math.min(...paid))}` },
    s("line", { class: "axis", x1: 0, x2: width, y1: HEIGHT / 2, y2: HEIGHT / 2 }), ...bars);
}

const sign = (value) => (Math.abs(value ?? 0) < 0.005 ? null : value < 0 ? "minus" : "plus");
