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
  mount(root, app, { query }) {
    const view = new View(app, query);
    const beside = h("div", { class: "beside" });
    const first = mountPanels(root, app, [headline, game]);
    root.append(beside);
    const ends = [first, mountPanels(beside, app, [verdict, player]), mountPanels(root, app, [makeWorld(view, { small: true })]), mountTabs(root, app, query, TABS)];
    view.open();
    return () => {
      view.close();
      for (const end of ends) end();
    };
  },
};
