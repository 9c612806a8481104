// The live connection to the HUD: comes back by itself, with longer and longer pauses.

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 10_000;
const SILENCE = 10_000; // the HUD says something every 2 s; after this long it is gone
const RESTARTING = 1012;

export class Connection {
  #socket = null;
  #attempt = 0;
  #retry = null;
  #silence = null;
  #fps = 30;

  /** handlers: text(message), frame(buffer), state({open, attempt, retryAt}) */
  constructor(url, handlers) {
    this.url = url;
    this.handlers = handlers;
  }

  open() {
    clearTimeout(this.#retry);
    const socket = (this.#socket = new WebSocket(this.url));
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.#attempt = 0;
      this.handlers.state({ open: true, attempt: 0, retryAt: null });
      this.setRate(this.#fps);
      this.#heard();
    };
    socket.onmessage = ({ data }) => {
      this.#heard();
      if (typeof data === "string") this.handlers.text(JSON.parse(data));
      else this.handlers.frame(data);
    };
    socket.onclose = ({ code }) => {
      if (socket === this.#socket) this.#lost(code);
    };
  }

  /** The frame with this number was drawn. */
  ack(seq) {
    this.#send({ type: "ack", seq });
  }

  /** Frames a second wanted; 0 for none. */
  setRate(fps) {
    this.#fps = fps;
    this.#send({ type: "rate", fps });
  }

  #send(message) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  #heard() {
    clearTimeout(this.#silence);
    const socket = this.#socket;
    this.#silence = setTimeout(() => {
      socket.onclose = null;
      socket.close();
      this.#lost(0);
    }, SILENCE);
  }

  #lost(code) {
    clearTimeout(this.#silence);
    this.#attempt += 1;
    const longest = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (this.#attempt - 1));
    const pause = code === RESTARTING ? FIRST_PAUSE : longest * (0.75 + 0.5 * Math.random());
    this.handlers.state({ open: false, attempt: this.#attempt, retryAt: Date.now() + pause });
    this.#retry = setTimeout(() => this.open(), pause);
  }
}
