// The live connection to the HUD: reconnects automatically with exponential back-off.

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 10_000;
const SILENCE = 10_000; // the HUD sends a message every 2 s; after this long the connection is considered lost
const QUESTION = 5000; // ms between two questions for its clock
const ACKS = 250; // ms between two acks; each is for all frames before it, and twelve may be under way
const RESTARTING = 1012;

export class Connection {
  /** @type {WebSocket | null} */
  #socket = null;
  #attempt = 0;
  /** @type {number | undefined} */
  #retry;
  /** @type {number | undefined} */
  #silence;
  /** @type {number | undefined} */
  #question;
  /** When the HUD was asked for its clock; null while no answer is waited for. @type {number | null} */
  #asked = null;
  #wanted = { fps: 30, texts: true };
  #drawn = 0;
  /** @type {number | null} */
  #ackTimer = null;

  /** handlers: text(message), frame(buffer), state({open, attempt, retryAt}), clock(iso, asked, answered) */
  constructor(url, handlers) {
    this.url = url;
    this.handlers = handlers;
  }

  open() {
    clearTimeout(this.#retry);
    const socket = (this.#socket = new WebSocket(this.url));
    socket.binaryType = "arraybuffer";
    let open = false;
    socket.onopen = () => {
      this.#send({ type: "rate", ...this.#wanted });
      this.#heard();
      this.#ask();
    };
    socket.onmessage = ({ data }) => {
      // Not on open: a rejected page is accepted first, then closed with the reason.
      if (!open) this.handlers.state({ open: (open = true), attempt: (this.#attempt = 0), retryAt: null });
      this.#heard();
      if (typeof data === "string") this.#text(JSON.parse(data));
      else this.handlers.frame(data);
    };
    socket.onclose = ({ code, reason }) => {
      if (socket === this.#socket) this.#lost(code, reason);
    };
  }

  /** The frame with this number was drawn. */
  ack(seq) {
    this.#drawn = seq;
    if (this.#ackTimer !== null) return;
    this.#send({ type: "ack", seq });
    this.#ackTimer = setTimeout(() => {
      this.#ackTimer = null;
      if (this.#drawn !== seq) this.ack(this.#drawn);
    }, ACKS);
  }

  /** Requested frames per second (0 for none) and whether the page is visible. */
  want({ fps, texts }) {
    if (fps === this.#wanted.fps && texts === this.#wanted.texts) return;
    this.#wanted = { fps, texts };
    this.#send({ type: "rate", fps, texts });
    this.#heard();
    if (texts) this.#ask();
  }

  #text(message) {
    if (message.type === "pong" && this.#asked !== null) {
      this.handlers.clock(message.data.now, this.#asked, Date.now());
      this.#asked = null;
    }
    this.handlers.text(message);
  }

  #send(message) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  #ask() {
    clearTimeout(this.#question);
    if (!this.#wanted.texts || this.#socket?.readyState !== WebSocket.OPEN) return;
    this.#asked = Date.now();
    this.#send({ type: "ping" });
    this.#question = setTimeout(() => this.#ask(), QUESTION);
  }

  #heard() {
    clearTimeout(this.#silence);
    if (!this.#wanted.texts) return; // no messages are sent to a hidden page, and its timers are throttled
    const socket = this.#socket;
    if (!socket) return;
    this.#silence = setTimeout(() => {
      socket.onclose = null;
      socket.close();
      this.#lost(0);
    }, SILENCE);
  }

  #lost(code, reason = "") {
    clearTimeout(this.#silence);
    clearTimeout(this.#question);
    this.#attempt += 1;
    const longest = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (this.#attempt - 1));
    const pause = code === RESTARTING ? FIRST_PAUSE : longest * (0.75 + 0.5 * Math.random());
    this.handlers.state({ open: false, attempt: this.#attempt, retryAt: Date.now() + pause, reason });
    this.#retry = setTimeout(() => this.open(), pause);
  }
}
