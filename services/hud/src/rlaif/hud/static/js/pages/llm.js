// The language models: their routes, failures, calls and cost.

import { Answer, hiddenUntil } from "../api.js";
import { LABELS, labels, LLM, routes } from "../panels/llm/routes.js";
import { calls, planner } from "../panels/player.js";
import { mountPanels } from "../parts.js";

const OFTEN = 3000; // ms
const SELDOM = 15_000;

/** @type {import("../router.js").Page} */
export const page = {
  title: "Language models",
  mount(root, app, { query }, scope) {
    const llm = new Answer(app, scope, { path: LLM, every: OFTEN });
    const newest = new Answer(app, scope, { every: OFTEN });
    const cost = new Answer(app, scope, { path: LABELS, every: SELDOM });
    scope.add(mountPanels(root, app, [routes(llm, cost), labels(cost), calls(newest, query), planner]));
    scope.add(hiddenUntil(root, [llm, newest, cost]));
  },
};
