// Events that a consumer gave up.

import { h, show } from "../dom.js";
import { ago } from "../clock.js";
import { count } from "../format.js";
import { empty, facts, fig } from "../parts.js";

function draw(body, { dead_letters: dead }) {
  const last = dead.last;
  show(body,
    facts([["Dead letters", fig("dead_letters.count", count(dead.count))], ["Last", last ? ago(last.dead_at) : "—"]]),
    last ? h("p", { class: "words" }, h("b", {}, last.reason), ` ${last.detail}`) : empty(dead.count === 0 ? "No dead letters." : ""),
    last ? h("p", { class: "sub" }, h("code", {}, `${last.consumer}, ${last.event_id}`), ", ", fig("dead_letters.last.attempts", count(last.attempts)), last.attempts === 1 ? " try" : " tries") : null);
}

/** @type {import("../panel.js").Panel} */
export const dead = { id: "dead", title: "Dead letters", sections: ["dead_letters"], draw };
