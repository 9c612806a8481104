import assert from "node:assert/strict";
import { test } from "node:test";

import { baseOf, based, match, unbased, withQuery } from "../../services/hud/src/rlaif/hud/static/js/routes.js";

const ROUTES = [{ path: "/" }, { path: "/models" }, { path: "/models/:version" }, { path: "/segments/:episode_id/:segment_id" }];
const found = (path) => match(ROUTES, path) && [match(ROUTES, path).route.path, match(ROUTES, path).params];

test("a path is a page's when all of its parts are", () => {
  assert.deepEqual(found("/"), ["/", {}]);
  assert.deepEqual(found("/models"), ["/models", {}]);
  assert.deepEqual(found("/models/"), ["/models", {}]);
  assert.deepEqual(found("/models/7"), ["/models/:version", { version: "7" }]);
  assert.deepEqual(found("/segments/e-1/s-2"), ["/segments/:episode_id/:segment_id", { episode_id: "e-1", segment_id: "s-2" }]);
});

test("any other path is no page's", () => {
  for (const path of ["/model", "/segments", "/segments/e-1", "/models/7/more", "/Models"]) assert.equal(found(path), null);
});

test("escapes of a path are undone, and what is no escape stays", () => {
  assert.deepEqual(found("/models/a%20b"), ["/models/:version", { version: "a b" }]);
  assert.deepEqual(found("/models/100%"), ["/models/:version", { version: "100%" }]);
});

test("values of a query are set, changed and taken out; others stay", () => {
  assert.equal(withQuery("/segments", { run: "a b", step: 3 }), "/segments?run=a+b&step=3");
  assert.equal(withQuery("/segments?run=a&step=3", { step: 4 }), "/segments?run=a&step=4");
  assert.equal(withQuery("/segments?run=a&step=3", { step: null, run: "" }), "/segments");
  assert.equal(withQuery("/segments?step=3", { step: 0 }), "/segments?step=0");
});

test("the base of the page is what stands before its files", () => {
  for (const [url, base] of [
    ["http://hud:8086/static/0123456789ab/js/base.js", ""],
    ["https://lab.example.org/user/ada/proxy/8086/static/0123456789ab/js/base.js", "/user/ada/proxy/8086"],
    ["https://lab.example.org/static/hud/static/0123456789ab/js/base.js", "/static/hud"],
    ["file:///src/static/js/base.js", ""],
  ]) assert.equal(baseOf(url), base);
});

test("without a base addresses stay as they are", () => {
  for (const address of ["/", "/segments", "#main", "https://elsewhere"]) {
    assert.equal(based(address), address);
    assert.equal(unbased(address), address);
  }
});
