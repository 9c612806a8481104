// The services, what waits for them, what was given up, and what happened.

import { mountPanels } from "../panel.js";
import { dead } from "../panels/dead.js";
import { log } from "../panels/log.js";
import { checks } from "../panels/system/checks.js";
import { LETTERS, letters } from "../panels/system/letters.js";
import { QUEUES, queues, streams } from "../panels/system/queues.js";
import { Polled } from "../polled.js";
import { Scope } from "../scope.js";

const OFTEN = 3000; // ms
const SELDOM = 15_000; // a new letter is asked for at once

/** @type {import("../router.js").Page} */
export const page = {
  title: "System",
  mount(root, app) {
    const scope = new Scope();
    const waiting = new Polled(app, scope, QUEUES, OFTEN);
    const given = new Polled(app, scope, LETTERS, SELDOM);
    scope.add(mountPanels(root, app, [checks, queues(waiting), streams(waiting), dead, letters(given), log]));
    waiting.ask();
    given.ask();
    return () => scope.end();
  },
};
