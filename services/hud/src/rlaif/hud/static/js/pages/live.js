// The live page: the game, the loop, and whether it gets better.

import { mountPanels } from "../panel.js";
import { course } from "../panels/course.js";
import { game } from "../panels/game.js";
import { headline } from "../panels/headline.js";
import { loads } from "../panels/loads.js";
import { log } from "../panels/log.js";
import { loop } from "../panels/loop.js";
import { player } from "../panels/player.js";
import { run } from "../panels/run.js";
import { search } from "../panels/search.js";
import { steps } from "../panels/timeline/steps.js";
import { timeline } from "../panels/timeline/timeline.js";
import { verdict } from "../panels/verdict.js";

/** @type {import("../router.js").Page} */
export const page = {
  title: "Live",
  mount: (root, app) => mountPanels(root, app, [headline, game, run, verdict, timeline, loads(), steps, loop, player, search, course, log]),
};
