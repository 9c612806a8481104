// The newest calls of the language models, with remedies.

import { h, keyed, show } from "../../dom.js";
import { ago, duration } from "../../format.js";
import { empty } from "../../parts.js";

export const CALLS = "/api/v1/llm/calls";
const CHOICES = [["", "all"], ["user=judge", "judges"], ["user=planner", "the planner"], ["failed=true", "failed"]];

/** The newest calls; the filter is in the address. @param {import("../../answer.js").Answer} answer @param {URLSearchParams} query @returns {import("../../panel.js").Panel} */
export const calls = (answer, query) => ({
  id: "llm-calls",
  title: "Recent calls",
  mount(body, app, scope) {
    const chosen = CHOICES.find(([value]) => value && query.get(value.split("=")[0]) === value.split("=")[1])?.[0] ?? "";
    const choice = /** @type {HTMLSelectElement} */ (h("select", { id: "llm-choice" }, ...CHOICES.map(([value, label]) => h("option", { value, selected: value === chosen }, label))));
    const ask = () => void answer.ask(choice.value ? `${CALLS}?${choice.value}` : CALLS);
    scope.on(choice, "change", () => {
      const [name, value] = choice.value.split("=");
      app.setQuery({ user: null, failed: null, ...(name ? { [name]: value } : {}) });
      ask();
    });
    const note = h("div");
    const list = h("ol", { class: "calls" });
    body.append(h("p", { class: "choose" }, h("label", { for: "llm-choice" }, "Show "), choice), note, h("div", { class: "scroll calls-box", tabindex: "0", role: "region", "aria-label": "LLM calls, newest first" }, list));
    answer.watch(({ value }) => {
      show(note, answer.notice() ?? (value && !value.items.length ? empty("No matching calls. The HUD keeps only the latest calls in memory.") : null));
      if (value) keyed(list, value.items, keyOf, (call) => callItem(call));
    });
    ask();
  },
});

/** Calls may end at the same time with one answer, as shared or cached plans do; the detail names their environment. */
export const keyOf = (call, index) => `${call.at} ${call.user} ${call.name} ${call.segment_id} ${call.latency_seconds} ${call.detail} ${call.answer ?? index}`;

export function callItem(call) {
  return h("li", { "data-ok": call.ok ? "yes" : "no" },
    h("p", { class: "call-head" }, h("b", {}, call.name), ` · ${call.request}`, ...segmentOf(call), " · ", outcome(call), " · ",
      h("span", { class: "reported" }, duration(call.latency_seconds)), " · ", ago(call.at)),
    call.detail ? h("p", { class: "sub reported" }, call.detail) : null,
    call.answer ? h("blockquote", { class: "reported", title: call.answer }, call.answer) : null,
    call.remedy ? h("p", { class: "remedy reported" }, h("b", {}, "What to do: "), call.remedy) : null);
}

function segmentOf({ segment_id: id, episode_id: episode }) {
  if (!id) return [];
  const short = h("code", { title: id }, id.length > 14 ? `${id.slice(0, 6)}…${id.slice(-6)}` : id);
  return [" of ", episode ? h("a", { href: `/segments/${episode}/${id}` }, short) : short];
}

function outcome(call) {
  if (!call.ok) return h("span", { class: "tag bad" }, `✕ ${call.outcome}`);
  if (call.user === "judge") return h("span", { class: "tag plain" }, "✓ answered");
  const ending = call.ending ? `: ${call.ending.replaceAll("_", " ")}` : "";
  return call.followed ? h("span", { class: "tag good" }, `✓ followed${ending}`) : h("span", { class: "tag plain" }, `not followed${ending}`);
}
