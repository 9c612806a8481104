// The last hour in at most five sentences, as the HUD says it, each with where to see more. Loaded after the first view.

import { ago } from "../clock.js";
import { h, keyed, show } from "../dom.js";
import { empty } from "../parts.js";
import { Polled } from "../polled.js";

const LOOK_AGAIN = 5000; // ms

/** @typedef {{kind: string, tone: "info" | "warning", text: string, at: string | null, link: {href: string, label: string}}} Sentence */
/** @typedef {{heard_since: string | null, sentences: Sentence[]}} Digest */

/** @param {HTMLElement} body @param {import("../app.js").App} app @param {import("../scope.js").Scope} scope */
export function mountDigest(body, app, scope) {
  const list = h("ol", { class: "digest-list" });
  const note = h("p", { class: "sub" });
  const polled = /** @type {Polled<Digest>} */ (new Polled(app, scope, "/api/v1/digest", LOOK_AGAIN));
  show(body, list, note);
  polled.show(({ value, problem }) => {
    if (!value) return show(note, problem ? `${problem.title}; it is asked again.` : empty("Asking the HUD…"));
    // A sentence that is the same keeps its element; its age ticks by itself.
    keyed(list, value.sentences, ({ text, at, link }) => `${text} ${at} ${link.href}`, item);
    show(note, value.heard_since && h("span", {}, "Silent judges and screens are known since the HUD started, ", ago(value.heard_since), "."));
  });
  polled.ask();
}

/** @param {Sentence} sentence */
function item({ tone, text, at, link }) {
  return h("li", { "data-tone": tone },
    tone === "warning" && h("span", { class: "icon", role: "img", "aria-label": "Attention" }, "▲ "),
    h("span", { class: "told" }, text), " ", at && ago(at), " ", h("a", { href: link.href, class: "told" }, link.label));
}
