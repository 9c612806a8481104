// What stands around every page: navigation, the run, the status, banners and help.

import { announce } from "./app.js";
import { tickAges } from "./clock.js";
import { byId, h, setText, show } from "./dom.js";
import { UNKNOWN } from "./format.js";
import { build, kept } from "./kept.js";
import { PAGES, WITHIN } from "./pages/registry.js";
import { based, unbased } from "./routes.js";
import { bannersOf, judge, showBanners, showStatus } from "./status.js";

/** @typedef {import("./app.js").App} App */

/** @param {App} app @param {import("./router.js").Router} router */
export function makeShell(app, router) {
  makeNavigation(app, router);
  makeHelp(app);
  makeThemeButton(byId("theme"));
  watchStatus(app);
  app.store.watch(["run", "loop"], ({ run, loop }) => setText(byId("run-id").querySelector("code"), run?.run_id ?? loop?.run_id ?? UNKNOWN));
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
  const letters = /** @type {HTMLInputElement} */ (byId("letters"));
  letters.checked = app.keys.letters;
  letters.addEventListener("change", () => {
    app.keys.letters = letters.checked;
  });
}

function showKeys(app) {
  const group = ([name, rows]) => h("div", {}, h("h3", {}, name), h("dl", { class: "keys" }, ...rows.map(row)));
  const row = ([key, label]) => h("div", {}, h("dt", {}, ...key.split(" ").flatMap((part, index) => [index ? " " : "", h("kbd", {}, part)])), h("dd", {}, label));
  show(byId("keys"), ...app.keys.listing().map(group));
}

/** @param {App} app */
function watchStatus(app) {
  const { live, store } = app;
  /** @type {string | null} */
  let announced = null;
  const reload = () => location.reload();
  const actions = { retry: () => app.live.retry(), reload };
  /** @type {(() => void) | null} */
  let unbind = null;
  const draw = () => {
    const status = judge(app);
    showStatus(status);
    const old = store.past !== null || (!live.link.open && live.link.attempt > 0);
    byId("page").dataset.known = old ? "past" : "now"; // greyed
    const banners = bannersOf({ status, open: live.link.open && store.past === null, state: store.state, build: build(), path: unbased(location.pathname) });
    showBanners(banners, actions);
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
