// Starts the HUD in the browser: store, live connection, frame, and the page of the address.

import { announceEvent, makeApp } from "./app.js";
import { byId } from "./dom.js";
import { Live, Store } from "./live.js";
import { Router } from "./router.js";
import { MISSING, PAGES } from "./routes.js";
import { makeShell } from "./shell.js";

const store = new Store();
const live = new Live(store, announceEvent);
const router = new Router(byId("page"), PAGES, MISSING);
const app = makeApp({ store, live, router });

makeShell(app, router);
router.start(app);
live.open();
