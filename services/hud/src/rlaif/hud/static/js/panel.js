// A panel: a titled part of a page that is drawn from sections of the snapshot. One that breaks leaves the others alone.

import { h, Scope, show } from "./dom.js";
import { meaningOf } from "./parts.js";

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
 * @property {(body: HTMLElement, app: App, scope: Scope) => void} [mount]  called once before the first drawing
 */

/** Put panels into a page; gives the function that takes them out. @param {HTMLElement} root @param {App} app @param {readonly Panel[]} panels */
export function mountPanels(root, app, panels) {
  const scope = new Scope();
  for (const panel of panels) {
    const { frame, body } = framed(panel);
    root.append(frame);
    const guarded = (/** @type {() => void} */ work) => guard(panel, frame, body, work);
    guarded(() => panel.mount?.(body, app, scope));
    scope.add(app.store.watch(panel.sections ?? [], (state) => guarded(() => panel.draw?.(body, state, app))));
  }
  return () => scope.end();
}

/** One group of panels at a time, chosen by tabs; the address names any but the first. @param {HTMLElement} root @param {App} app @param {URLSearchParams} query @param {Record<string, () => readonly Panel[]>} groups  by the label of the tab */
export function mountTabs(root, app, query, groups) {
  const labels = Object.keys(groups);
  const named = (/** @type {string} */ label) => label.toLowerCase();
  const body = h("div", { class: "tab-panels", id: "tab-panels", role: "tabpanel" });
  let end = () => {};
  const choose = (/** @type {string} */ label) => {
    for (const tab of tabs) {
      tab.setAttribute("aria-selected", String(tab.textContent === label));
      tab.tabIndex = tab.textContent === label ? 0 : -1;
    }
    body.setAttribute("aria-labelledby", `tab-${named(label)}`);
    end();
    body.replaceChildren();
    end = mountPanels(body, app, groups[label]());
  };
  const pick = (/** @type {string} */ label) => {
    choose(label);
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
  choose(labels.find((label) => named(label) === query.get("tab")) ?? labels[0]);
  return () => end();
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
    show(body, h("p", { class: "notice", "data-tone": "bad" }, h("b", {}, "This panel failed to render"), `: ${error instanceof Error ? error.message : error}. The rest of the page works. It is rendered again with the next update.`));
  }
}
