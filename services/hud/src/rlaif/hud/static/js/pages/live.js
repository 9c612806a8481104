// The live page: the game, what language models say of it, and the map; under it, by tabs, the training.

import { h } from "../dom.js";
import { makeWorld } from "../map/atlas.js";
import { View } from "../map/layers.js";
import { game } from "../panels/game.js";
import { player } from "../panels/player.js";
import { course, headline, run, search } from "../panels/run.js";
import { steps, timeline } from "../panels/timeline/timeline.js";
import { verdict } from "../panels/verdict.js";
import { mountPanels, mountTabs } from "../parts.js";

const TABS = {
  Training: async () => [search, course, run, timeline],
  Rewards: async () => [steps, (await import("../panels/loads.js")).loads()],
  Pipeline: async () => import("../panels/loop.js").then(({ loop, log }) => [loop, log]),
};

/** @type {import("../router.js").Page} */
export const page = {
  title: "Live",
  mount(root, app, { query }, scope) {
    const view = new View(app, query);
    const beside = h("div", { class: "beside" });
    scope.add(mountPanels(root, app, [headline, game]));
    root.append(beside);
    scope.add(mountPanels(beside, app, [verdict, player]));
    scope.add(mountPanels(root, app, [makeWorld(view, { small: true })]));
    scope.add(mountTabs(root, app, query, TABS));
    view.open(scope);
  },
};
