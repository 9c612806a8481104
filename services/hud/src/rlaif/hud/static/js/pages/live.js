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

/** Its module comes after the first view. @type {import("../panel.js").Panel} */
const digest = {
  id: "digest", title: "The last hour", sections: [], draw() {},
  mount(body, app, scope) {
    let left = false;
    scope.add(() => { left = true; });
    import("../panels/digest.js").then(
      ({ mountDigest }) => left || mountDigest(body, app, scope),
      () => body.append("This part could not be loaded; load the page again."),
    );
  },
};

/** @type {import("../router.js").Page} */
export const page = {
  title: "Live",
  mount: (root, app) => mountPanels(root, app, [headline, game, run, verdict, digest, timeline, loads, steps, loop, player, search, course, log]),
};
