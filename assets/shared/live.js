// What every station does now, as the service tells it: read once, then followed by its events. All that shows live values
// on a page shares this; equal sequence numbers show equal values on every screen (monitoring.md section 8).

import { connection, get, query } from "./api.js";

const again = 10_000; // ms until a stream that was refused is asked for once more, and between looks whether all is well
const silence = 40_000; // ms without a word after which a stream is dead: the service says something every 15 s
const patience = 20_000; // ms for a reading; on bad Wi-Fi no answer may ever come
const grace = 8000; // ms that a stream may take to come back before what is shown counts as old

/**
 * Live is an EventTarget. "stations": some have changed, told at most once per frame with their codes, a Set, as detail (the
 * service sends what changes in a quarter of a second together); a whole reading tells all of them. "issue", "schedule",
 * "task", "message" and "account": one such event, its data as detail.
 * "reset": what was read of anything but stations may be old by now.
 */
class Live extends EventTarget {
  /** stations are the stations by code, in the manifest's order, as GET /station gives each. */
  stations = new Map();
  #scope = {}; // of which the stream tells
  #stream = null;
  #followers = []; // {scope}, in the order in which they came
  #changed = new Set();
  #frame = 0;
  #timer = 0;
  #reading = null;
  #waiting = []; // events that came while everything was read
  #whole = false; // everything was read since the stream is there
  #due = false; // "reset" is to be told when everything is read
  #watch = 0;
  #heard = 0; // when the service last said something, ms
  #lost = 0; // since when the stream is not there, ms; 0: it is

  /**
   * follow begins to follow; it gives a function that ends it. scope: {plantcode, stationcodes}, of which that of the last
   * one who still follows holds. The first reading is awaited.
   */
  async follow(scope = {}) {
    const follower = { scope };
    if (this.#followers.push(follower) === 1) {
      document.addEventListener("visibilitychange", this.#look);
      connection.addEventListener("change", this.#look);
      this.#watch = setInterval(() => this.#mend(), again);
    }
    const end = () => this.#leave(follower);
    try {
      if (!same(scope, this.#scope)) this.stations = new Map();
      await this.#agree();
    } catch (error) {
      end();
      throw error;
    }
    return end;
  }

  #leave(follower) {
    const at = this.#followers.indexOf(follower);
    if (at < 0) return;
    this.#followers.splice(at, 1);
    if (this.#followers.length) {
      this.#agree().catch(() => {}); // it is looked after, as any stream
      return;
    }
    document.removeEventListener("visibilitychange", this.#look);
    connection.removeEventListener("change", this.#look);
    clearInterval(this.#watch);
    this.#close();
    this.#heard = this.#lost = 0;
  }

  // agree lets the stream tell what the last follower asks for, and waits until that is read.
  async #agree() {
    const { scope } = this.#followers.at(-1),
      other = !same(scope, this.#scope);
    this.#scope = scope;
    if (other || !this.#stream) return this.#open();
    return this.#whole ? undefined : (this.#reading ?? this.#read());
  }

  /** oldSince gives since when, ms, what is shown may be old, as nothing is heard of the service; 0: it is not old. */
  oldSince(now = Date.now()) {
    if (!this.#heard) return 0; // nothing is shown, or nothing yet
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
    else if (connection.up && (!this.#stream || this.#stream.readyState === EventSource.CLOSED))
      this.#open().catch(() => {});
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
    this.#due = true;
    const stream = new EventSource(`/events${query(this.#scope)}`);
    this.#stream = stream;
    for (const type of ["open", "station", "issue", "schedule", "task", "message", "account", "reset", "beat"])
      stream.addEventListener(type, () => this.#hear());
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
  }

  // read reads all stations; who waits for a reading that another one has overtaken waits for that.
  #read() {
    this.#whole = false;
    const reading = (this.#reading = (async () => {
      const answer = await get(`/station${query(this.#scope)}`, { signal: AbortSignal.timeout(patience) }).catch(
        (error) => ({ error }),
      );
      if (reading !== this.#reading) return this.#reading;
      this.#reading = null;
      if (answer.error) throw answer.error;
      this.#whole = true;
      const before = this.stations;
      this.stations = new Map(
        answer.results.map((station) => [station.stationCode, newer(before.get(station.stationCode), station)]),
      );
      for (const code of [...before.keys(), ...this.stations.keys()]) this.#changed.add(code);
      for (const event of this.#waiting.splice(0)) this.#take(event);
      this.#tell();
      if (!this.#due) return;
      this.#due = false;
      this.dispatchEvent(new Event("reset"));
    })());
    return reading;
  }

  #take(event) {
    if (this.#reading) {
      this.#waiting.push(event);
      return;
    }
    const station = JSON.parse(event.data),
      code = station.stationCode;
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

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const newer = (a, b) => (a && a.sequence > b.sequence ? a : b);

export const live = new Live();
