// The frame of every page: navigation, the run, the status, banners, help, and keys.

import { kept } from "./api.js";
import { announce, notify, wantNotices, wantsNotices } from "./app.js";
import { byId, h, setText, show } from "./dom.js";
import { tickAges, UNKNOWN } from "./format.js";
import { based, PAGES, unbased, WITHIN } from "./routes.js";
import { bannersOf, judge, showBanners, showStatus } from "./status.js";

/** @typedef {import("./app.js").App} App */

/** @param {App} app @param {import("./router.js").Router} router */
export function makeShell(app, router) {
  makeNavigation(app, router);
  makeHelp(app);
  makeThemeButton(byId("theme"));
  watchStatus(app);
  const link = /** @type {HTMLAnchorElement} */ (byId("run-id").querySelector("a"));
  app.store.watch(["run", "loop"], ({ run, loop }) => {
    const id = run?.run_id ?? loop?.run_id;
    setText(/** @type {Element} */ (link.firstElementChild), [id ?? UNKNOWN, ...(run?.game?.match(/^world-.*/) ?? [])].join(" · "));
    if (id) link.href = based(`/?run=${id}`);
  });
  document.addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]") && event.key !== "?") return;
    app.keys.press(event);
  });
}

/** The links stand in index.html, so that nothing moves when this module comes; relative to the first view, which is left. */
function makeNavigation(app, router) {
  for (const link of document.querySelectorAll("a:not(.skip), [rel=icon]")) link.setAttribute("href", new URL(/** @type {HTMLAnchorElement} */ (link).href).pathname);
  const named = PAGES.filter(({ label }) => label);
  router.watch((name) => {
    for (const { name: other, path } of named) {
      const link = byId("nav").querySelector(`[href="${based(path)}"]`);
      if (other === (WITHIN[name] ?? name)) link?.setAttribute("aria-current", "page");
      else link?.removeAttribute("aria-current");
    }
  });
  app.keys.bind(Object.fromEntries(named.map(({ path, label, key }) => [key, { label: `Go to ${label}`, run: () => app.go(path) }])), "Pages");
}

function makeHelp(app) {
  const help = /** @type {HTMLDialogElement} */ (byId("help"));
  const toggle = () => {
    if (help.open) return help.close();
    showKeys(app);
    help.showModal();
  };
  byId("help-button").addEventListener("click", toggle);
  app.keys.bind({ "?": { label: "Show or close this help", run: toggle } }, "Everywhere");
  const letters = /** @type {HTMLInputElement} */ (byId("shortcuts"));
  letters.checked = app.keys.letters;
  letters.addEventListener("change", () => {
    app.keys.letters = letters.checked;
  });
  const notices = /** @type {HTMLInputElement} */ (byId("notices"));
  notices.disabled = !("Notification" in window); // over http only on the own machine
  notices.checked = wantsNotices();
  notices.addEventListener("change", async () => void (notices.checked = await wantNotices(notices.checked)));
}

function showKeys(app) {
  const group = ([name, rows]) => h("div", {}, h("h3", {}, name), h("dl", { class: "keys" }, ...rows.map(row)));
  const row = ([key, label]) => h("div", {}, h("dt", {}, ...key.split(" ").flatMap((part, index) => [index ? " " : "", h("kbd", {}, part)])), h("dd", {}, label));
  show(byId("keys"), ...app.keys.listing().map(group));
}

/** The build of the page's files: another one may draw other fields. */
const build = () => document.querySelector('meta[name="build"]')?.getAttribute("content") ?? "";

function watchStatus(app) {
  const { live, store } = app;
  /** @type {string | null} */
  let announced = null;
  const reload = () => location.reload();
  const actions = { retry: () => app.live.retry(), reload };
  /** @type {(() => void) | null} */
  let unbind = null;
  /** @type {Set<string> | null} of the issues at the last drawing */
  let known = null;
  const draw = () => {
    const status = judge(app);
    showStatus(status);
    const old = !live.link.open && live.link.attempt > 0;
    byId("page").dataset.known = old ? "past" : "now"; // greyed
    const banners = bannersOf({ status, open: live.link.open, state: store.state, build: build(), path: unbased(location.pathname) });
    showBanners(banners, actions);
    if (live.link.open && store.known) {
      for (const { key, title, text } of banners) if (known && !known.has(key)) notify(`${title}: ${text}`, key);
      known = new Set(banners.map(({ key }) => key));
    }
    if (!unbind && banners.some(({ key }) => key === "version")) unbind = app.keys.bind({ r: { label: "Reload the new version of the page", run: reload } }, "Everywhere");
    if (status.name !== announced && ["stale", "disconnected"].includes(status.name)) announce(`Game screen: ${status.name}`);
    announced = status.name;
  };
  store.watch(["screen", "run", "search", "health", "services", "issues", "taken_at"], draw);
  live.watch(draw);
  setInterval(() => {
    tickAges();
    draw();
  }, 500);
}

const NAME = "rlaif.theme";
const ORDER = /** @type {const} */ (["system", "light", "dark"]);
const SIGNS = { system: "◐", light: "☀", dark: "☾" };

/** @returns {"system" | "light" | "dark"} */
export function theme() {
  const chosen = document.documentElement.dataset.theme;
  return chosen === "light" || chosen === "dark" ? chosen : "system";
}

/** @param {"system" | "light" | "dark"} chosen */
export function setTheme(chosen) {
  if (chosen === "system") {
    delete document.documentElement.dataset.theme;
    kept.removeItem(NAME);
  } else {
    document.documentElement.dataset.theme = chosen;
    kept.setItem(NAME, chosen);
  }
}

/** Let a button go through the themes. @param {HTMLElement} button */
export function makeThemeButton(button) {
  const draw = () => {
    button.textContent = SIGNS[theme()];
    button.title = `Colours: ${theme()}`;
    button.setAttribute("aria-label", `Colours: ${theme()}. Change.`);
  };
  button.addEventListener("click", () => {
    setTheme(ORDER[(ORDER.indexOf(theme()) + 1) % ORDER.length]);
    draw();
  });
  draw();
}

const CONTROLS = "input, select, textarea, [contenteditable]";
const PRESSED_BY_SPACE = `button, a, summary, ${CONTROLS}`;
const TOGETHER = 1500; // ms between the two keys of one binding
const SWITCH = "rlaif.keys";

/** @typedef {{label: string, run: (event: KeyboardEvent) => void, hidden?: boolean}} Binding */

/** The name of what was pressed, as bindings write it. @param {{key: string, shiftKey: boolean}} event */
export function nameOf({ key, shiftKey }) {
  if (key === " ") return "Space";
  if (key.length === 1) return key.toLowerCase() === key.toUpperCase() ? key : key.toLowerCase();
  return shiftKey && key !== "Shift" ? `Shift+${key}` : key;
}

/** Whether a binding is a letter, digit or sign alone: those can be switched off (WCAG 2.1.4). @param {string} key */
export const isCharacter = (key) => key.split(" ").every((part) => part.length === 1);

export class Keys {
  /** @type {{group: string, bindings: Record<string, Binding>}[]} newest last */
  #layers = [];
  /** @type {{name: string, at: number} | null} */
  #first = null;

  /** @param {{now?: () => number, storage?: Pick<Storage, "getItem" | "setItem">}} [with_] */
  constructor({ now = () => Date.now(), storage = kept } = {}) {
    this.now = now;
    this.storage = storage;
  }

  /** Add bindings; gives the function that takes them away. Newer ones win. @param {Record<string, Binding>} bindings @param {string} [group] heading in the help */
  bind(bindings, group = "This page") {
    const layer = { group, bindings };
    this.#layers.push(layer);
    return () => {
      this.#layers = this.#layers.filter((each) => each !== layer);
    };
  }

  /** What is bound now, by groups, for the help: [[group, [[key, label], …]], …]. @returns {[string, [string, string][]][]} */
  listing() {
    /** @type {Map<string, Map<string, string>>} */
    const groups = new Map();
    for (const { group, bindings } of this.#layers) {
      const rows = groups.get(group) ?? new Map();
      for (const [key, { label, hidden }] of Object.entries(bindings)) if (!hidden) rows.set(key, label);
      groups.set(group, rows);
    }
    return [...groups].filter(([, rows]) => rows.size).map(([group, rows]) => [group, [...rows]]);
  }

  /** Whether letters alone do something. */
  get letters() {
    return this.storage.getItem(SWITCH) !== "off";
  }

  set letters(on) {
    this.storage.setItem(SWITCH, on ? "on" : "off");
  }

  /** Do what a key is bound to; true when it was bound. @param {KeyboardEvent} event */
  press(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return false;
    const target = /** @type {Element | null} */ (event.target);
    if (target?.closest?.(CONTROLS)) return false;
    const name = nameOf(event);
    if ((name === "Space" || name === "Enter") && target?.closest?.(PRESSED_BY_SPACE)) return false;
    const first = this.#first && this.now() - this.#first.at < TOGETHER ? this.#first.name : null;
    this.#first = null;
    const binding = (first && this.#find(`${first} ${name}`)) || this.#find(name);
    if (binding) {
      event.preventDefault();
      binding.run(event);
      return true;
    }
    if (this.#begins(name)) this.#first = { name, at: this.now() };
    return false;
  }

  #find(key) {
    if (isCharacter(key) && key !== "?" && !this.letters) return null;
    return this.#layers.findLast(({ bindings }) => Object.hasOwn(bindings, key))?.bindings[key] ?? null;
  }

  #begins(name) {
    return this.letters && this.#layers.some(({ bindings }) => Object.keys(bindings).some((key) => key.startsWith(`${name} `)));
  }
}
