// The language models: what they are asked, what they say, whether it is followed, and what it costs.

import { mountPanels } from "../panel.js";
import { judges } from "../panels/judges.js";
import { CALLS, calls, errors } from "../panels/llm/calls.js";
import { LABELS, labels } from "../panels/llm/labels.js";
import { LLM, routes } from "../panels/llm/routes.js";
import { player } from "../panels/player.js";
import { Polled } from "../polled.js";
import { Scope } from "../scope.js";

const OFTEN = 3000; // ms
const SELDOM = 15_000;

/** @type {import("../router.js").Page} */
export const page = {
  title: "Language models",
  mount(root, app, { query }) {
    const scope = new Scope();
    const how = new Polled(app, scope, LLM, OFTEN);
    const said = new Polled(app, scope, CALLS, OFTEN);
    const cost = new Polled(app, scope, LABELS, SELDOM);
    scope.add(mountPanels(root, app, [routes(how), errors(how), labels(cost), judges, calls(said, query), player]));
    for (const each of [how, said, cost]) each.ask();
    return () => scope.end();
  },
};
