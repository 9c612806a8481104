// Two clips side by side for a person to judge: blind first, then what the judges say.

import { authorised, GivenUp, hiddenUntil, kept } from "../api.js";
import { show } from "../dom.js";
import { count, messageOf } from "../format.js";
import { empty } from "../parts.js";
import { loadFilms, PairPlayer, Queue } from "../review/player.js";
import { makeView } from "../review/view.js";
import { agreed, drawAgreement, drawLog, reveal } from "../review/words.js";

/** @typedef {import("../review/player.js").Pair} Pair */

const NAME = "rlaif.reviewer";
const LOG_LINES = 10;
const LOOK_AGAIN = 15_000; // ms, while there is no pair

/** Pairs whose judges' words were seen in this tab: a vote on them is not blind. @type {Set<string>} */
const seen = new Set();

class Review {
  /** @type {Pair | null} */
  #pair = null;
  /** @type {import("../review/words.js").Report | null} */
  #report = null;
  #sending = false;
  /** Whether both clips were shown. */
  #asking = false;
  #visit = 0;

  /** @param {HTMLElement} root @param {import("../app.js").App} app @param {import("../dom.js").Scope} scope */
  constructor(root, app, scope) {
    this.app = app;
    this.view = makeView(root, {
      vote: (choice) => void this.vote(choice), next: () => void this.next(), undo: () => void this.undo(),
      play: () => this.player.play(!this.player.playing), seek: (frame) => this.player.seek(frame),
      nudge: (by) => this.player.nudge(by), faster: (by) => this.player.faster(by), named: (name) => this.#named(name),
    });
    this.view.name.value = kept.getItem(NAME) ?? "";
    this.player = new PairPlayer(this.view.canvases, () => this.view.moved(this.player));
    this.queue = new Queue((limit) => app.api.get(`/api/v1/pairs/next?${new URLSearchParams({ actor: this.actor, limit: String(limit) })}`), loadFilms);
    scope.add(() => this.player.clear());
    scope.add(() => {
      this.#visit += 1;
    });
    scope.every(LOOK_AGAIN, () => {
      if (!this.#pair && !document.hidden) void this.next();
    });
    scope.add(app.keys.bind(this.#keys(), "Review"));
    this.readAgreement();
  }

  get actor() {
    return this.view.name.value.trim();
  }

  /** The pair of the address, or else the next one. @param {string | null} id */
  async start(id) {
    if (!id) return this.next();
    try {
      const pair = await this.app.api.get(`/api/v1/pairs/${encodeURIComponent(id)}`);
      this.queue.shown(pair);
      await this.#show(pair, loadFilms(pair));
    } catch (error) {
      await this.next();
      if (this.#pair) this.view.say(`The pair of this address cannot be shown, this is another one: ${messageOf(error)}`, "warn");
    }
  }

  /** Show the next pair. */
  async next() {
    const visit = ++this.#visit;
    try {
      const found = await this.queue.take();
      if (visit !== this.#visit) return;
      if (!found) return this.#none();
      await this.#show(found.pair, found.films);
    } catch (error) {
      if (visit === this.#visit) this.#broken(error);
    }
  }

  /** @param {import("../review/words.js").Choice} choice */
  async vote(choice) {
    const pair = this.#pair;
    if (!pair || this.#sending || this.#report || !(this.#asking || choice === "skip")) return;
    if (!this.actor) return this.view.askName(choice);
    this.#sending = true;
    this.view.phase("sending");
    const body = { actor: this.actor, a: pair.a.segment_id, choice, blind: !seen.has(pair.pair_id) };
    const headers = { "Idempotency-Key": randomKey() };
    try {
      const report = await authorised(() => this.app.api.post(`/api/v1/preferences/${pair.pair_id}/votes`, body, { headers }), "vote");
      if (choice === "skip") {
        this.#pair = null;
        await this.next();
      } else this.#reveal(pair, report);
      this.readAgreement();
    } catch (error) {
      this.view.phase(this.#asking ? "asking" : "loading");
      this.view.say(error instanceof GivenUp ? "Nothing was sent: a vote needs the token." : `The vote was not stored: ${messageOf(error)}`, "bad");
    } finally {
      this.#sending = false;
    }
  }

  /** Take the vote that is shown back. */
  async undo() {
    const report = this.#report;
    if (!report || this.#sending) return;
    this.#sending = true;
    try {
      const line = await authorised(() => this.app.api.post(`/api/v1/votes/${report.record.number}/undo`, { actor: report.record.actor }), "withdraw a vote");
      this.#report = null;
      this.view.phase("asking");
      this.view.say(`Vote ${report.record.number} was withdrawn (line ${line.number} of the log) and is not used for training. It still counts in the agreement. A new vote on this pair is not blind.`);
      this.app.announce("Vote withdrawn");
      this.readAgreement();
    } catch (error) {
      if (!(error instanceof GivenUp)) this.view.say(`Could not withdraw the vote: ${messageOf(error)}`, "bad");
    } finally {
      this.#sending = false;
    }
  }

  async readAgreement() {
    try {
      const [agreement, votes] = await Promise.all([this.app.api.get("/api/v1/agreement"), this.app.api.get(`/api/v1/votes?limit=${LOG_LINES}`)]);
      drawAgreement(this.view.agreement, agreement);
      drawLog(this.view.log, votes.items);
    } catch (error) {
      for (const body of [this.view.agreement, this.view.log]) show(body, empty(`It cannot be read: ${messageOf(error)}`));
    }
  }

  /** @param {Pair} pair @param {Promise<import("../review/player.js").Films>} films */
  async #show(pair, films) {
    const visit = ++this.#visit;
    this.#pair = pair;
    this.#report = null;
    this.#asking = false;
    this.player.clear();
    this.app.setQuery({ pair: pair.pair_id });
    this.view.pair(pair);
    this.view.phase("loading");
    try {
      const both = await films;
      if (visit !== this.#visit) return;
      await this.player.show(both);
      if (visit === this.#visit) this.#asking = true;
    } catch (error) {
      if (visit !== this.#visit) return;
      // Who saw nothing can say nothing.
      this.view.say(`A clip cannot be shown: ${messageOf(error)}. Skip this pair with S.`, "bad");
    }
    if (visit !== this.#visit) return;
    if (this.#asking) this.view.phase("asking");
    void this.queue.prepare();
  }

  /** @param {Pair} pair @param {import("../review/words.js").Report} report */
  #reveal(pair, report) {
    seen.add(pair.pair_id);
    this.#report = report;
    this.view.phase("revealed");
    show(this.view.reveal, ...reveal(report, pair));
    this.view.say(`Vote ${report.record.number} is stored; the next training uses it.`);
    this.app.announce(agreed(report));
    void this.queue.prepare();
  }

  #none() {
    this.#pair = null;
    this.app.setQuery({ pair: null });
    this.player.clear();
    this.view.phase("none");
    const labels = this.queue.labels;
    this.view.say(labels
      ? `You have answered all current pairs. ${count(labels)} segments are scored; the next training creates new pairs. This page refreshes automatically.`
      : "No pairs yet: a pair needs two scored segments. This page refreshes automatically.");
  }

  #broken(error) {
    this.#pair = null;
    this.player.clear();
    this.view.phase("none");
    this.view.say(`Pairs cannot be read: ${messageOf(error)}`, "bad", { again: () => void this.next() });
  }

  #named(name) {
    if (name === kept.getItem(NAME)) return;
    kept.setItem(NAME, name);
    this.queue.clear();
  }

  /** @returns {Record<string, import("../shell.js").Binding>} */
  #keys() {
    return {
      a: { label: "A is better", run: () => void this.vote("a") },
      b: { label: "B is better", run: () => void this.vote("b") },
      e: { label: "Equal", run: () => void this.vote("equal") },
      s: { label: "Skip", run: () => void this.vote("skip") },
      u: { label: "Withdraw the vote", run: () => void this.undo() },
      Enter: { label: "Next pair", run: () => { if (this.#report) void this.next(); } },
      Space: { label: "Play or pause", run: () => this.player.play(!this.player.playing) },
      ArrowLeft: { label: "One step back", run: () => this.player.nudge(-1) },
      ArrowRight: { label: "One step forward", run: () => this.player.nudge(1) },
      "Shift+ArrowLeft": { label: "Ten steps back", run: () => this.player.nudge(-10) },
      "Shift+ArrowRight": { label: "Ten steps forward", run: () => this.player.nudge(10) },
      "[": { label: "Slower", run: () => this.player.faster(-1) },
      "]": { label: "Faster", run: () => this.player.faster(1) },
    };
  }
}

/** A key that makes a repeated request the same vote; pages over plain http have no randomUUID. */
const randomKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** @type {import("../router.js").Page} */
export const page = {
  title: "Review",
  mount(root, app, { query }, scope) {
    const review = new Review(root, app, scope);
    scope.add(hiddenUntil(root, [review.start(query.get("pair"))]));
  },
};
