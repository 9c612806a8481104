// The live page: the game, the loop, and whether it gets better.

import { mountPanels } from "../panel.js";
import { course, search } from "../panels/course.js";
import { game } from "../panels/game.js";
import { loads } from "../panels/loads.js";
import { log, loop } from "../panels/loop.js";
import { player } from "../panels/player.js";
import { headline, run } from "../panels/run.js";
import { steps, timeline } from "../panels/timeline/timeline.js";
import { verdict } from "../panels/verdict.js";

/** @type {import("../router.js").Page} */
export const page = {
  title: "Live",
  mount: (root, app) => mountPanels(root, app, [headline, game, run, verdict, timeline, loads(), steps, loop, player, search, course, log]),
};
