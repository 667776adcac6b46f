// What every station does now, as the service tells it: read once, then followed by its events. All that shows live values
// on a page shares this; equal sequence numbers show equal values on every screen (monitoring.md section 8).

import { connection, get, query } from "./api.js";

const again = 10_000; // ms until a stream that was refused is asked for once more, and between looks whether all is well
const silence = 40_000; // ms without a word after which a stream is dead: the service says something every 15 s
const patience = 20_000; // ms for a reading; on bad Wi-Fi no answer may ever come
const grace = 8000; // ms that a stream may take to come back before what is shown counts as old

/**
 * Live is an EventTarget. "stations": some have changed, told at most once per frame with their codes, a Set, as detail; a
 * whole reading tells all of them. "issue", "schedule", "task", "message" and "account": one such event, its data as detail.
 * "reset": what was read of anything but stations may be old by now.
 */
class Live extends EventTarget {
  /** stations are the stations by code, in the manifest's order, as GET /station gives each. */
  stations = new Map();
  #scope = {};
  #stream = null;
  #users = 0;
  #changed = new Set();
  #frame = 0;
  #timer = 0;
  #reading = null;
  #waiting = []; // events that came while everything was read
  #whole = false; // everything was read since the stream is there
  #watch = 0;
  #heard = 0; // when the service last said something, ms
  #lost = 0; // since when the stream is not there, ms; 0: it is

  /**
   * follow begins to follow; it gives a function that ends it. scope: {plantcode, stationcodes}, of which the last one asked
   * for holds. The first reading is awaited.
   */
  async follow(scope = {}) {
    this.#users++;
    const other = JSON.stringify(scope) !== JSON.stringify(this.#scope);
    this.#scope = scope;
    if (other) this.stations = new Map();
    if (this.#users === 1) {
      document.addEventListener("visibilitychange", this.#look);
      connection.addEventListener("change", this.#look);
      this.#watch = setInterval(() => this.#mend(), again);
    }
    let ended = false;
    const end = () => {
      if (ended) return;
      ended = true;
      if (--this.#users > 0) return;
      document.removeEventListener("visibilitychange", this.#look);
      connection.removeEventListener("change", this.#look);
      clearInterval(this.#watch);
      this.#close();
    };
    try {
      if (other || !this.#stream) await this.#open();
    } catch (error) {
      end();
      throw error;
    }
    return end;
  }

  /** oldSince gives since when, ms, what is shown may be old, as nothing is heard of the service; 0: it is not old. */
  oldSince(now = Date.now()) {
    if (!this.#heard) return 0; // nothing is shown yet
    const silent = this.#lost ? now - this.#lost > grace : now - this.#heard > silence;
    return silent ? this.#heard : 0;
  }

  // A connection may die without a word, and a reading may fail.
  #mend() {
    if (!this.#stream || !connection.up) return;
    if (Date.now() - this.#heard > silence) {
      connection.check();
      this.#open().catch(() => {});
    } else if (!this.#whole && !this.#reading) this.#read().catch(() => {});
  }

  #hear() {
    this.#heard = Date.now();
    this.#lost = 0;
  }

  // A page that nobody sees does not listen: over HTTP/1.1 a browser has six connections to a host, for all its tabs.
  #look = () => {
    if (document.visibilityState !== "visible") this.#close();
    else if (connection.up && (!this.#stream || this.#stream.readyState === EventSource.CLOSED)) this.#open().catch(() => {});
  };

  #close() {
    clearTimeout(this.#timer);
    this.#stream?.close();
    this.#stream = null;
  }

  // The stream is opened first, and what it tells meanwhile is taken after what is read: so nothing is missed.
  async #open() {
    this.#close();
    this.#whole = false;
    const stream = new EventSource(`/events${query(this.#scope)}`);
    this.#stream = stream;
    for (const type of ["open", "station", "issue", "schedule", "task", "message", "account", "reset", "beat"]) stream.addEventListener(type, () => this.#hear());
    stream.addEventListener("station", (event) => this.#take(event));
    for (const type of ["issue", "schedule", "task", "message", "account"]) {
      stream.addEventListener(type, (event) => {
        this.dispatchEvent(new CustomEvent(type, { detail: JSON.parse(event.data) }));
        if (type === "account") this.#read().catch(() => {}); // stations may have come or gone
      });
    }
    stream.addEventListener("reset", () => {
      this.dispatchEvent(new Event("reset"));
      this.#read().catch(() => {});
    });
    stream.addEventListener("error", () => {
      if (stream !== this.#stream) return;
      this.#lost ||= Date.now();
      connection.check();
      if (stream.readyState !== EventSource.CLOSED) return; // it tries again by itself, from where it was
      this.#close();
      this.#timer = setTimeout(this.#look, again);
    });
    await this.#read();
    this.dispatchEvent(new Event("reset"));
  }

  #read() {
    this.#whole = false;
    const reading = this.#reading = (async () => {
      try {
        const { results } = await get(`/station${query(this.#scope)}`, { signal: AbortSignal.timeout(patience) });
        if (reading !== this.#reading) return;
        this.#whole = true;
        const before = this.stations;
        this.stations = new Map(results.map((station) => [station.stationCode, newer(before.get(station.stationCode), station)]));
        for (const code of [...before.keys(), ...this.stations.keys()]) this.#changed.add(code);
      } finally {
        if (reading === this.#reading) this.#reading = null;
      }
      for (const event of this.#waiting.splice(0)) this.#take(event);
      this.#tell();
    })();
    return reading;
  }

  #take(event) {
    if (this.#reading) { this.#waiting.push(event); return; }
    const station = JSON.parse(event.data), code = station.stationCode;
    const before = this.stations.get(code);
    if (!before || newer(before, station) === before) return;
    this.stations.set(code, station);
    this.#changed.add(code);
    this.#tell();
  }

  #tell() {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      const codes = this.#changed;
      this.#changed = new Set();
      if (codes.size) this.dispatchEvent(new CustomEvent("stations", { detail: codes }));
    });
  }
}

const newer = (a, b) => (a && a.sequence > b.sequence ? a : b);

export const live = new Live();
