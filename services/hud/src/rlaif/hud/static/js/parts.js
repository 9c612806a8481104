// Panels, the small parts that they share, and the definitions of terms in hover text.

import { h, Scope, show } from "./dom.js";
import { compact, count, decimal, messageOf, percent, reward } from "./format.js";

/** A number of the page, with the field of `/api/v1/state` that it shows: "loop.captured". @param {string | null} field @param {string} text @param {string | null} [title] */
export const fig = (field, text, title = null) => h("span", { "data-figure": field, title }, text);

/** A number of the REST document at `path`, with its field in it. @param {string} path @param {string} field @param {string} text @param {string | null} [title] */
export const from = (path, field, text, title = null) => fig(`${path}#${field}`, text, title);

/** Items with a separator between them. @param {import("./dom.js").Child[]} items @returns {import("./dom.js").Child[]} */
export const listed = (items, separator = ", ") => items.flatMap((each, index) => (index ? [separator, each] : [each]));

/** A cell with its heading, for rows that become cards on a phone. @param {string} label @param {...import("./dom.js").Child} children */
export const cell = (label, ...children) => h("td", { "data-label": label }, ...children);

/**
 * A table and its body; in a region that scrolls if that has a `name` for screen readers.
 *
 * @param {object} how
 * @param {string} [how.look]  class of the table
 * @param {(string | Node | {hidden: string})[]} how.heads  of the columns; hidden: for screen readers only
 * @param {import("./dom.js").Child[]} [how.rows]
 * @param {string} [how.name]  of the region
 * @param {string} [how.region]  its class
 * @param {string} [how.caption]
 */
export function table({ look, heads, rows = [], name, region = "scroll", caption }) {
  const body = h("tbody", {}, ...rows);
  const head = heads.map((each) => h("th", { scope: "col" }, typeof each === "string" || each instanceof Node ? each : h("span", { class: "visually-hidden" }, each.hidden)));
  const inner = h("table", { class: look }, caption && h("caption", {}, caption), h("thead", {}, h("tr", {}, ...head)), body);
  return { body, frame: name ? h("div", { class: region, tabindex: "0", role: "region", "aria-label": name }, inner) : inner };
}

/** A button with a sign, named by its title. @param {string} sign @param {string} title @param {() => void} run */
export const signButton = (sign, title, run) => h("button", { type: "button", "aria-label": title, title, onclick: run }, sign);

/** A bar that is filled to a share between 0 and 1. @param {number} share @param {Record<string, unknown>} [attributes] */
export function bar(share, attributes = { "aria-hidden": "true" }) {
  const fill = h("i");
  fill.style.width = `${100 * Math.min(1, Math.max(0, share))}%`;
  return h("span", { class: "bar01", ...attributes }, fill);
}

/** A bar from the middle, to the left if negative. @param {number} value @param {number} most  of all bars */
export function bothBar(value, most) {
  const width = (50 * Math.abs(value)) / most;
  const fill = h("i", { "data-sign": value < 0 ? "minus" : "plus" });
  fill.style.width = `${width}%`;
  fill.style.left = `${value < 0 ? 50 - width : 50}%`;
  return h("span", { class: "both", "aria-hidden": "true" }, fill);
}

/** A bar for a value between 0 and 1, with its number. @param {string | null} field @param {number | null | undefined} value @param {{kind?: string, title?: string | null, source?: string | null}} [more] */
export function bar01(field, value, { kind = "", title = null, source = null } = {}) {
  return [bar(value ?? 0, { "data-kind": kind, "data-source": source, "aria-hidden": "true", title }), h("span", { class: "number", title, "data-figure": field }, decimal(value))];
}

/** Facts as terms and values: [["Steps", "1,204", "exact text"], …]. */
export function facts(rows, kind = "") {
  return h("dl", { class: `facts ${kind}` }, ...rows.map(([term, value, title]) => h("div", {}, h("dt", { title: meaningOf(term) }, term), h("dd", { title }, value))));
}

/** The words of the judges. */
export function words(rationales) {
  return h("div", { class: "words" }, ...rationales.map(({ judge, text }) => h("figure", {}, h("blockquote", { title: text }, text), h("figcaption", {}, judge))));
}

/** Why a criterion has no number, or null. */
export function whyUnknown(row, criterion) {
  return row.score?.abstentions?.[criterion] ?? (row.abstained.includes(criterion) ? "abstained" : null);
}

const SOURCES = { votes: "by judges", computed: "from the game's memory", human: "by people" };

/** Who decided a criterion, when it was not the language models' votes: "computed" is the game's RAM. */
export const decidedBy = (score) => (score && score.source !== "votes" ? score.source : null);

/** Who decided how much of a score: "80 % by judges, 20 % from the game's memory". */
export function decided(row, at = `segments.${row.segment_id}`) {
  const shares = row.score?.shares ?? {};
  const field = (source) => `${at}.score.shares.${source}`;
  const parts = Object.entries(SOURCES).filter(([source]) => shares[source] > 0)
    .map(([source, name]) => h("span", {}, fig(field(source), percent(shares[source])), ` ${name}`));
  return parts.length ? h("span", { class: "quiet-text", title: "Share of the rubric's weight that was scored" }, ...listed(parts)) : null;
}

/** Where the segment started and ended on the quest: "objective 2 of 18, 6 → 4.7 half screens left (+0.06 objectives)". */
export function questOf(row, at = `segments.${row.segment_id}`) {
  const quest = row.score?.quest;
  if (!quest) return null;
  const field = (name) => `${at}.score.quest.${name}`;
  const objective = (at) => fig(field(`${at}.objective`), count(quest[at].objective));
  const distance = (at) => fig(field(`${at}.distance`), compact(quest[at].distance));
  const next = quest.end.objective === quest.start.objective ? [] : [" → ", objective("end")];
  return h("p", { class: "quest", title: `${quest.votes} votes; ${quest.source}; a half screen is 80 pixels` },
    "Quest: objective ", objective("start"), ...next, " of ", fig(field("objectives"), count(quest.objectives)), ", ", distance("start"), " → ", distance("end"), " half screens left (", h("b", {}, fig(field("rise"), reward(quest.rise))), " objectives)");
}

/** A text when there is nothing to show. */
export const empty = (...children) => h("p", { class: "empty" }, ...children);

export const CRITERIA = ["progress", "dialog", "puzzle", "novelty", "efficiency"];

/** @type {Record<string, string>} */
export const GLOSSARY = {
  "reward model": "An ensemble of small networks that maps an observation to a potential: the position on the quest, learned from the judges.",
  "shaping reward": "The reward model's part of the reward: differences of potentials, which keep the optimal policy, or rises of the potential (`TRAINER_SHAPING_MODE`).",
  "dead letter": "An event that a consumer could not handle, stored with the reason until someone acts on it.",
  candidate: "A trained reward model that the gate has not accepted yet.",
  champion: "The reward model that passed the gate last, or that a person chose: live. The trainer loads it between iterations.",
  curriculum: "The order in which start states are trained, here backward: from the goal towards the beginning.",
  demonstration: "A recorded trajectory that reaches a goal; the policy imitates it and starts along it.",
  episode: "One game from a start state until it ends, or until `EPISODE_LENGTH` is reached.",
  frame: "The unit of time of the game, 1/60 s of play. Frames/s include frames in which the game takes no input.",
  gate: "The checks that a candidate must pass before it is published.",
  iteration: "One cycle of sampling and training.",
  judge: "A language model with a rubric, which scores segments by votes. A pod of the judge service asks all of them.",
  label: "A judge's score of a segment, or a preference between two, from which the reward model learns.",
  milestone: "A step of the main quest, of which Seedling Vale has 24.",
  pipeline: "The loop of services: trainer, exporter, judge, reward model, and back to the trainer. As a mode of a run: training and evaluation in turn.",
  planner: "The language model that proposes plans and suggestions while the agent plays.",
  redrive: "Send a dead letter again.",
  segment: "300 frames of one episode: the unit that is captured, judged and learned from.",
  step: "Unless stated otherwise, a decision of the policy; not an emulator step or frame.",
  vote: "One answer of a judge; several votes make its score.",
};

/** The definition of the first term in a label, or null. @param {string} label */
export function meaningOf(label) {
  const text = label.toLowerCase();
  const term = Object.keys(GLOSSARY).find((each) => new RegExp(`\\b${each}s?\\b`).test(text));
  return term ? `${term}: ${GLOSSARY[term].replaceAll("`", "")}` : null;
}

/**
 * @typedef {import("./app.js").App} App
 * @typedef {object} Panel
 * @property {string} id  of the element that it fills
 * @property {string} title
 * @property {string} [look]  more classes of its frame; the first names its place in the layout
 * @property {"div" | "ol" | "ul"} [tag]  what it fills
 * @property {Record<string, unknown>} [attributes]  of what it fills
 * @property {boolean} [hidden]  until it has something to show
 * @property {string[]} [sections]  of the snapshot that it is drawn from
 * @property {(body: HTMLElement, state: any, app: App) => void} [draw]
 * @property {(body: HTMLElement, app: App, scope: Scope) => void | ((state: any) => void)} [mount]  called once before the first drawing; may give what draws
 */

/** Put panels into a page; gives the function that takes them out. @param {HTMLElement} root @param {App} app @param {readonly Panel[]} panels */
export function mountPanels(root, app, panels) {
  const scope = new Scope();
  for (const panel of panels) {
    const { frame, body } = framed(panel);
    root.append(frame);
    const guarded = (/** @type {() => void} */ work) => guard(panel, frame, body, work);
    let draw = (/** @type {any} */ state) => panel.draw?.(body, state, app);
    guarded(() => void (draw = panel.mount?.(body, app, scope) ?? draw));
    scope.add(app.store.watch(panel.sections ?? [], (state) => guarded(() => draw(state))));
  }
  return () => scope.end();
}

/** One group of panels at a time, chosen by tabs; the address names any but the first. @param {HTMLElement} root @param {App} app @param {URLSearchParams} query @param {Record<string, () => Promise<readonly Panel[]>>} groups  by the label of the tab; each is loaded when it is chosen */
export function mountTabs(root, app, query, groups) {
  const labels = Object.keys(groups);
  const named = (/** @type {string} */ label) => label.toLowerCase();
  const body = h("div", { class: "tab-panels", id: "tab-panels", role: "tabpanel" });
  let end = () => {};
  let visit = 0;
  const choose = async (/** @type {string} */ label) => {
    for (const tab of tabs) {
      tab.setAttribute("aria-selected", String(tab.textContent === label));
      tab.tabIndex = tab.textContent === label ? 0 : -1;
    }
    body.setAttribute("aria-labelledby", `tab-${named(label)}`);
    end();
    end = () => {};
    body.replaceChildren();
    const mine = ++visit;
    const panels = await groups[label]().catch((error) => [{ id: `${named(label)}-panels`, title: label, draw: () => { throw error; } }]);
    if (mine === visit) end = mountPanels(body, app, panels);
  };
  const pick = (/** @type {string} */ label) => {
    void choose(label);
    app.setQuery({ tab: label === labels[0] ? null : named(label) });
  };
  const tabs = labels.map((label) => h("button", { type: "button", role: "tab", id: `tab-${named(label)}`, "aria-controls": "tab-panels", onclick: () => pick(label) }, label));
  const move = (/** @type {KeyboardEvent} */ event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const next = tabs.at((tabs.indexOf(/** @type {HTMLButtonElement} */ (event.target)) + by) % tabs.length);
    pick(next?.textContent ?? labels[0]);
    next?.focus();
  };
  root.append(h("div", { class: "tabs", role: "tablist", "aria-label": "More of the run", onkeydown: move }, ...tabs), body);
  void choose(labels.find((label) => named(label) === query.get("tab")) ?? labels[0]);
  return () => {
    visit += 1;
    end();
  };
}

/** @param {Panel} panel */
function framed({ id, title, look = id, tag = "div", attributes = {}, hidden = false }) {
  const body = h(tag, { id, ...attributes });
  const frame = h("section", { class: `panel ${look}`, "aria-labelledby": `${id}-title`, hidden }, h("h2", { id: `${id}-title`, title: meaningOf(title) }, title), body);
  return { frame, body };
}

/** @param {Panel} panel @param {HTMLElement} frame @param {HTMLElement} body @param {() => void} work */
function guard({ title }, frame, body, work) {
  try {
    work();
    delete frame.dataset.broken;
  } catch (error) {
    console.error("a panel failed to render", title, error);
    frame.dataset.broken = "yes";
    show(body, h("p", { class: "notice", "data-tone": "bad" }, h("b", {}, "This panel failed to render"), `: ${messageOf(error)}. The rest of the page works. It is rendered again with the next update.`));
  }
}
