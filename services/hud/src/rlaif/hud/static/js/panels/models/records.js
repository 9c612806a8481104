// The reward-model service's lists of versions and rejected candidates, requested again when the models change.

import { Answer } from "../../answer.js";
import { LIST, REJECTED } from "./figures.js";

/** Changes when the service has something new to say about the models. @param {any} models  section reward_models */
export function signature(models) {
  const live = models.champion;
  return JSON.stringify([live?.version, live?.since, live?.pinned, live?.pin_reason, models.withdrawn, models.rejected_count, models.published.map((/** @type {any} */ row) => [row.version, row.loaded_at_steps.length])]);
}

export class Records {
  /** @param {import("../../app.js").App} app @param {import("../../scope.js").Scope} scope */
  constructor(app, scope) {
    this.list = new Answer(app, scope);
    this.rejections = new Answer(app, scope);
    let known = "";
    scope.add(app.store.watch(["reward_models"], ({ reward_models: models }) => {
      if (signature(models) === known) return;
      known = signature(models);
      void this.list.ask(LIST);
      void this.rejections.ask(REJECTED);
    }));
  }

  /** Index and record of each version, by version. @returns {Map<number, {index: number, manifest: any}>} */
  get manifests() {
    const items = this.list.value?.items ?? [];
    return new Map(items.map((/** @type {any} */ manifest, /** @type {number} */ index) => [manifest.version, { index, manifest }]));
  }
}
