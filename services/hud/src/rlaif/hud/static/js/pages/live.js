// The live page: the game, what language models say of it, and the map; under it, by tabs, the training.

import { h } from "../dom.js";
import { makeWorld } from "../map/atlas.js";
import { View } from "../map/view.js";
import { mountPanels, mountTabs } from "../panel.js";
import { course, search } from "../panels/course.js";
import { game } from "../panels/game.js";
import { loads } from "../panels/loads.js";
import { log, loop } from "../panels/loop.js";
import { player } from "../panels/player.js";
import { headline, run } from "../panels/run.js";
import { steps, timeline } from "../panels/timeline/timeline.js";
import { verdict } from "../panels/verdict.js";

const TABS = { Training: () => [search, course, run, timeline], Rewards: () => [steps, loads()], Pipeline: () => [loop, log] };

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
