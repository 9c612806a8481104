// What the pages know of versions and refused candidates: the snapshot's rows, with the service's records beside them.

import { Answer } from "../../answer.js";
import { LIST, REFUSED } from "./figures.js";

/** Changes when something of the models does that the service should be asked of again. @param {any} models  section reward_models */
export function signature(models) {
  const live = models.champion;
  return JSON.stringify([live?.version, live?.since, live?.pinned, live?.pin_reason, models.withdrawn, models.rejected_count, models.published.map((/** @type {any} */ row) => [row.version, row.loaded_at_steps.length])]);
}

/** Both lists of the service, asked again when the models change. */
export class Records {
  /** @type {Set<() => void>} */
  #watchers = new Set();
  #list;
  #refused;
  #known = "";

  /** @param {import("../../app.js").App} app @param {import("../../scope.js").Scope} scope */
  constructor(app, scope) {
    const report = () => this.#watchers.forEach((draw) => draw());
    this.#list = new Answer(app, scope, report);
    this.#refused = new Answer(app, scope, report);
    scope.add(app.store.watch(["reward_models"], (/** @type {any} */ { reward_models: models }) => {
      const now = signature(models);
      if (now === this.#known) return;
      this.#known = now;
      this.ask();
    }));
  }

  /** Ask for both. */
  ask() {
    void this.#list.ask(LIST);
    void this.#refused.ask(REFUSED);
  }

  /** Call `draw` at each change. @param {() => void} draw */
  watch(draw) {
    this.#watchers.add(draw);
    return () => this.#watchers.delete(draw);
  }

  /** Why the service's records are not there; null when they are. */
  get problem() {
    return this.#list.problem;
  }

  /** Whether nothing was answered yet. */
  get waiting() {
    return this.#list.loading && this.#list.value === null && this.#list.problem === null;
  }

  /** Whether older versions are left out. */
  get more() {
    return Boolean(/** @type {any} */ (this.#list.value)?.next_cursor);
  }

  /** Versions whose record cannot be read. @returns {{version: number, reason: string}[]} */
  get unreadable() {
    return /** @type {any} */ (this.#list.value)?.unreadable ?? [];
  }

  /** Index and record of each version, by version. @returns {Map<number, {index: number, manifest: any}>} */
  get manifests() {
    const items = /** @type {any} */ (this.#list.value)?.items ?? [];
    return new Map(items.map((/** @type {any} */ { manifest }, /** @type {number} */ index) => [manifest.version, { index, manifest }]));
  }

  /** All refused candidates that are kept, newest first. @returns {any[]} */
  get refused() {
    return /** @type {any} */ (this.#refused.value)?.items ?? [];
  }
}
