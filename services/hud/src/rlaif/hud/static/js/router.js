// One page at a time in one place of the document. Each view has an address, and the browser's Back and Forward work.

import { byId, h, Scope, setText, show } from "./dom.js";
import { messageOf } from "./format.js";
import { based, match, unbased, withQuery } from "./routes.js";

/**
 * @typedef {import("./app.js").App} App
 * @typedef {{[name: string]: any, query: URLSearchParams}} Params
 * @typedef {{title: string | ((params: Params) => string), mount(root: HTMLElement, app: App, params: Params, scope: Scope): void}} Page  `scope` ends when the page is left
 * @typedef {{name: string, path: string, label?: string, key?: string, load(): Promise<{page: Page}>}} Entry
 */

const SITE = "Zelda RLAIF";

export class Router {
  /** @type {App | null} */
  #app = null;
  #root;
  #pages;
  #missing;
  /** What ends with the page that is shown. */
  #scope = new Scope();
  #visit = 0;
  /** @type {Set<(name: string, title: string) => void>} */
  #watchers = new Set();

  /** @param {HTMLElement} root  where pages are mounted @param {readonly Entry[]} pages @param {Entry} missing  shown for an address that is no page's */
  constructor(root, pages, missing) {
    this.#root = root;
    this.#pages = pages;
    this.#missing = missing;
  }

  /** Show the page of the present address, and follow links and the browser's buttons from now on. @param {App} app */
  start(app) {
    this.#app = app;
    history.scrollRestoration = "manual";
    window.addEventListener("popstate", ({ state }) => this.#open({ scroll: state?.scroll ?? 0 }));
    document.addEventListener("click", (event) => this.#follow(event));
    this.#open({ scroll: history.state?.scroll ?? 0, first: true });
  }

  /** Call `report(name, title)` after each change of the page. @param {(name: string, title: string) => void} report */
  watch(report) {
    this.#watchers.add(report);
    return () => this.#watchers.delete(report);
  }

  /** Go to an address of the HUD. @param {string} address @param {{replace?: boolean}} [how] */
  go(address, { replace = false } = {}) {
    this.#remember();
    const same = address === unbased(location.pathname) + location.search;
    history[replace || same ? "replaceState" : "pushState"]({}, "", based(address));
    return this.#open({ scroll: 0 });
  }

  /** Change the query of the address; the page stays as it is. @param {Record<string, string | number | null | undefined>} values */
  setQuery(values) {
    history.replaceState(history.state, "", withQuery(location.pathname + location.search, values));
  }

  /** Where the reader was, for when Back brings this view again. */
  #remember() {
    history.replaceState({ ...history.state, scroll: window.scrollY }, "");
  }

  /** @param {MouseEvent} event */
  #follow(event) {
    if (event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const link = /** @type {Element} */ (event.target).closest?.("a[href]");
    if (!(link instanceof HTMLAnchorElement) || link.target || link.hasAttribute("download") || link.origin !== location.origin) return;
    const path = unbased(link.pathname);
    if (based(path) !== link.pathname || !match(this.#pages, path)) return;
    if (link.hash && link.pathname === location.pathname) return;
    event.preventDefault();
    this.go(path + link.search);
  }

  /** @param {{scroll: number, first?: boolean}} how */
  async #open({ scroll, first = false }) {
    const visit = ++this.#visit;
    const app = /** @type {App} */ (this.#app);
    const found = match(this.#pages, unbased(location.pathname)) ?? { route: this.#missing, params: {} };
    const params = { ...found.params, query: new URLSearchParams(location.search) };
    let title = found.route.label ?? found.route.name;
    try {
      const { page } = await found.route.load();
      if (visit !== this.#visit) return; // meanwhile another page was asked for
      title = typeof page.title === "function" ? page.title(params) : page.title;
      this.#leave();
      page.mount(this.#root, app, params, this.#scope);
    } catch (error) {
      if (visit !== this.#visit) return;
      console.error("a page could not be shown", found.route.name, error);
      this.#leave();
      show(this.#root, broken(error));
    }
    document.title = found.route.name === "live" ? SITE : `${title} · ${SITE}`;
    document.documentElement.dataset.page = found.route.name;
    setText(byId("title"), title);
    for (const report of this.#watchers) report(found.route.name, title);
    window.scrollTo(0, scroll);
    if (!first) {
      byId("main").focus({ preventScroll: true });
      app.announce(title);
    }
  }

  #leave() {
    try {
      this.#scope.end();
    } catch (error) {
      console.error("a page could not be left", error);
    }
    this.#root.replaceChildren();
  }
}

function broken(error) {
  return h("section", { class: "panel", role: "alert" },
    h("h2", {}, "This page could not be shown"),
    h("p", {}, messageOf(error)),
    h("p", { class: "empty" }, "The rest of the HUD works. A newer version may have been installed."),
    h("p", {}, h("button", { type: "button", onclick: () => location.reload() }, "Reload")));
}
