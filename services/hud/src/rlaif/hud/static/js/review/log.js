// The newest lines of the log of votes.

import { h, show } from "../dom.js";
import { ago } from "../clock.js";
import { count } from "../format.js";
import { empty, fig } from "../parts.js";
import { lineOf } from "./words.js";

/** @typedef {import("./words.js").Line} Line */

/** @param {HTMLElement} body @param {Line[]} lines  newest first */
export function drawLog(body, lines) {
  if (lines.length === 0) return show(body, empty("No votes yet."));
  show(body, h("ol", { class: "votes" }, ...lines.map((line) => h("li", { "data-kind": line.kind },
    h("span", { class: "number" }, fig(`votes.${line.number}.number`, count(line.number))),
    h("span", { class: "reported" }, h("b", {}, line.actor), " ", lineOf(line)),
    h("a", { href: `/review?pair=${pairOf(line)}` }, "pair"),
    ago(line.created_at)))));
}

/** Id of the pair of a line. @param {Line} line */
export const pairOf = ({ a, b }) => [a, b].sort().join("--");
