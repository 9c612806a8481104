// What a page says to the HUD, over a socket of the test's.

import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import { Connection } from "../../services/hud/src/rlaif/hud/static/js/connection.js";

/** @type {FakeSocket[]} */
let sockets = [];

class FakeSocket {
  static OPEN = 1;
  readyState = 0;
  sent = [];

  constructor() {
    sockets.push(this);
  }

  send(text) {
    this.sent.push(JSON.parse(text));
  }

  close() {
    this.readyState = 3;
  }

  opens() {
    this.readyState = FakeSocket.OPEN;
    this.onopen();
  }

  said(type) {
    return this.sent.filter((message) => message.type === type);
  }
}

let heard;
beforeEach(() => {
  mock.reset();
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout", "Date"] });
  globalThis.WebSocket = /** @type {any} */ (FakeSocket);
  sockets = [];
  heard = { text: [], frame: [], state: [], clock: [] };
});

function connect() {
  const note = (name) => (...values) => heard[name].push(values);
  const connection = new Connection("ws://hud", { text: note("text"), frame: note("frame"), state: note("state"), clock: note("clock") });
  connection.open();
  sockets[0].opens();
  return connection;
}

test("it says what it wants and asks for the clock", () => {
  connect();
  assert.deepEqual(sockets[0].sent, [{ type: "rate", fps: 30, texts: true }, { type: "ping" }]);
  mock.timers.tick(40);
  sockets[0].onmessage({ data: '{"type":"pong","data":{"now":"2026-11-20T12:00:00Z"}}' });
  assert.deepEqual(heard.clock, [["2026-11-20T12:00:00Z", 0, 40]]);
  mock.timers.tick(5000);
  assert.equal(sockets[0].said("ping").length, 2);
});

test("frames are acknowledged four times a second, and the last one always", () => {
  const connection = connect();
  for (let seq = 1; seq <= 20; seq += 1) {
    connection.ack(seq);
    mock.timers.tick(50);
  }
  mock.timers.tick(1000);
  const acks = sockets[0].said("ack").map(({ seq }) => seq);
  assert.equal(acks[0], 1);
  assert.equal(acks.at(-1), 20);
  assert.ok(acks.length >= 4 && acks.length <= 6, `${acks}`);
});

test("a hidden page requests nothing, and silence is not an error", () => {
  const connection = connect();
  connection.want({ fps: 0, texts: false });
  assert.deepEqual(sockets[0].said("rate").at(-1), { type: "rate", fps: 0, texts: false });
  mock.timers.tick(600_000);
  assert.equal(sockets.length, 1, "it did not connect again");
  assert.equal(sockets[0].said("ping").length, 1, "and asked nothing");
  connection.want({ fps: 30, texts: true });
  connection.want({ fps: 30, texts: true });
  assert.equal(sockets[0].said("rate").length, 3, "what did not change is not said again");
  assert.equal(sockets[0].said("ping").length, 2);
});

test("a HUD that says nothing for ten seconds is left, and asked again with pauses", () => {
  connect();
  mock.timers.tick(10_001);
  assert.equal(heard.state.at(-1)[0].open, false);
  mock.timers.tick(1000);
  assert.equal(sockets.length, 2);
});

test("a rejected page is never open, and receives the reason", () => {
  connect();
  assert.deepEqual(heard.state, [], "the HUD accepts it to send the reason");
  sockets[0].onclose({ code: 1008, reason: "Set HUD_ALLOWED_ORIGINS" });
  const { open, reason } = heard.state.at(-1)[0];
  assert.deepEqual({ open, reason }, { open: false, reason: "Set HUD_ALLOWED_ORIGINS" });
});
