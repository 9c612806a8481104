// Is it getting better, and do the judges help? One sentence, as the HUD says it.

import { h, show } from "../dom.js";
import { compact, count, decimal, reward } from "../format.js";
import { fig } from "../parts.js";

/** @typedef {{text: string, figure: string | null}} Part @typedef {{before: number | null, after: number | null, n_before: number, n_after: number, change: number | null, low: number | null, high: number | null}} Difference */

/** @param {HTMLElement} body */
function mount(body) {
  body.append(
    h("p", { class: "goal" }, "An agent learns to play a game. Language models judge segments of its play, and a reward model trained on their judgements rewards better play."),
    h("p", { class: "sentence", id: "headline-sentence" }),
    h("p", { class: "sides", id: "headline-sides" }),
  );
}

/** @param {HTMLElement} body @param {any} state */
function draw(body, { headline }) {
  const [, sentence, sides] = body.children;
  if (!headline) return;
  patch(sentence, headline.parts);
  show(sides, ...withAndWithout(headline.runs));
}

/** Only changed words are updated, so that a selection or a screen reader is not interrupted. @param {Element} sentence @param {Part[]} parts */
function patch(sentence, parts) {
  const key = parts.map(({ text, figure }) => `${figure ?? ""}=${text}`).join("\n");
  if (sentence.getAttribute("data-key") === key) return;
  sentence.setAttribute("data-key", key);
  show(sentence, ...parts.map(({ text, figure }) => (figure ? h(MAIN.test(figure) ? "b" : "span", { "data-figure": figure }, text) : text)));
}

const MAIN = /\.(before|after|since_version|live_version)$/; // the others say how sure they are

/** @param {{with_run: string, without_run: string, until_step: number, milestones: Difference} | null} runs */
function withAndWithout(runs) {
  if (!runs) return [h("span", { class: "quiet-text" }, "No comparable run without judges.")];
  const { milestones } = runs;
  const field = (/** @type {string} */ name) => `headline.runs.milestones.${name}`;
  const change = milestones.change === null ? ["; too few episodes to compare"] : [": ", fig(field("change"), reward(milestones.change)), " (", fig(field("low"), reward(milestones.low)), " to ", fig(field("high"), reward(milestones.high)), ")"];
  return [
    "Milestones per episode with judges ", fig(field("after"), decimal(milestones.after)), ", without ", fig(field("before"), decimal(milestones.before)), ...change,
    h("span", { class: "quiet-text" }, " n = ", fig(field("n_after"), count(milestones.n_after)), " and ", fig(field("n_before"), count(milestones.n_before)), ", up to step ", fig("headline.runs.until_step", compact(runs.until_step)), ", runs ", h("code", {}, runs.with_run), " and ", h("code", {}, runs.without_run)),
  ];
}

/** @type {import("../panel.js").Panel} */
export const headline = { id: "headline", title: "Is it getting better?", sections: ["headline"], mount, draw };
