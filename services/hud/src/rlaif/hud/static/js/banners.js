// Issues, at the bottom of the window: each with its description and remedy. Empty while the pipeline is healthy.

import { ago } from "./clock.js";
import { byId, h, keyed, setText } from "./dom.js";

const SHOWN = 4;

/**
 * @typedef {{key: string, tone: "warn" | "bad" | "plain", title: string, text: string, since?: string, page?: string | null, action?: "retry" | "reload"}} Banner
 * @typedef {{key: string, service: string, description: string, since: string, page?: string | null}} Issue
 */

/**
 * The current banners; a pure function.
 *
 * @param {{status: {name: string, note: string, why?: string}, open: boolean, state: any, build: string, path?: string}} report  `build` is the one of this page's files, `path` its address
 * @returns {Banner[]}
 */
export function bannersOf({ status, open, state, build, path }) {
  if (status.name === "disconnected") return [{ key: "lost", tone: "bad", title: status.why ? "The HUD rejected this page" : "Connection to the HUD lost", text: `${status.why || "The page shows the last known values"}; ${status.note}.`, action: "retry" }];
  if (!open) return [];
  const issues = merged(state.issues ?? []).filter(({ page }) => !page?.startsWith(`${path}#`)); // those have a place on this page
  /** @type {Banner[]} */
  const banners = issues.slice(0, SHOWN).map(({ key, service, description, since, page }) => ({ key, tone: "warn", title: service, text: description, since, page }));
  const more = issues.length - SHOWN;
  if (more > 0) banners.push({ key: "more", tone: "warn", title: "More issues", text: `${more} more; GET /api/v1/state lists all issues.` });
  if (state.build && build && state.build !== build) banners.push({ key: "version", tone: "plain", title: "A new version of this page is installed.", text: "Reload to see all fields.", action: "reload" });
  return banners;
}

/** Merge equal issues of several services into one banner. @param {Issue[]} issues */
function merged(issues) {
  /** @type {Map<string, Issue>} */
  const known = new Map();
  for (const issue of issues) {
    const { service, description, since } = issue;
    const other = known.get(description);
    const both = other && { ...other, service: `${other.service}, ${service}`, since: since < other.since ? since : other.since };
    known.set(description, both ?? issue);
  }
  return [...known.values()];
}

const LABELS = { retry: "Retry now", reload: "Reload" };

/** Show the banners; an unchanged one is not announced again. @param {Banner[]} banners @param {{retry: () => void, reload: () => void}} actions */
export function showBanners(banners, actions) {
  keyed(byId("banners"), banners, ({ key }) => key, (banner) => make(banner, actions), refresh);
}

/** @param {HTMLElement} element @param {Banner} banner */
function refresh(element, { title, text }) {
  setText(element.querySelector("strong"), title);
  setText(element.querySelector("span"), text);
}

/** @param {Banner} banner @param {Record<string, () => void>} actions */
function make({ key, tone, title, text, since, page, action }, actions) {
  return h("div", { class: "banner", role: "alert", "data-key": key, "data-tone": tone },
    h("strong", {}, title), h("span", {}, text), page ? h("a", { href: page }, "Details") : null, since ? ago(since, { prefix: "for ", suffix: "" }) : null,
    action ? h("button", { type: "button", onclick: actions[action] }, LABELS[action]) : null);
}
