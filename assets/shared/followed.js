// What a list of the API gives, read page by page and read again, station by station, when an event says that something changed.

import { get, query } from "./api.js";

/** Rows that one request gives, and that are read before somebody asks for more. */
const page = 1000, atOnce = 5000;

/** Milliseconds that events are waited for before stations are read again: what changes is often told more than once. */
const pause = 400;

/**
 * Followed holds what GET path gives: all, rows that have an id and a stationCode; total, how many there are; loading, error.
 * changed is called when any of it is other than before.
 */
export class Followed {
  all = [];
  total = 0;
  loading = false;
  error = null;
  #turn = 0;
  #limit = atOnce;
  #dirty = new Set();
  #timer = 0;

  constructor(path, changed) { Object.assign(this, { path, changed }); }

  /** read begins anew, with other parameters of the query where they are given. */
  read(values = this.query) {
    this.query = values;
    this.#limit = atOnce;
    return this.#load();
  }

  /** more reads what was left out. */
  more() {
    this.#limit += atOnce;
    return this.#load();
  }

  async #load() {
    const turn = ++this.#turn, all = new Map();
    Object.assign(this, { loading: true, error: null });
    this.changed();
    try {
      for (let total = Infinity; all.size < Math.min(total, this.#limit);) {
        const body = await get(`${this.path}${query({ ...this.query, limit: page, skip: all.size })}`);
        if (turn !== this.#turn) return;
        for (const row of body.results) all.set(row.id, row);
        total = body.results.length ? body.paging.totalElements : all.size;
        Object.assign(this, { all: [...all.values()], total: body.paging.totalElements });
        this.changed();
      }
    } catch (error) {
      if (turn === this.#turn) this.error = error;
    } finally {
      if (turn === this.#turn) { this.loading = false; this.changed(); }
    }
  }

  /** heard takes an event of a station: it is read again soon. */
  heard({ stationCode }) {
    this.#dirty.add(stationCode);
    this.#timer ||= setTimeout(() => this.#again(), pause);
  }

  async #again() {
    if (this.loading) { // what it reads may be of before the event
      this.#timer = setTimeout(() => this.#again(), pause);
      return;
    }
    const codes = [...this.#dirty], asks = this.query.stationcodes ?? [], turn = this.#turn;
    this.#dirty.clear();
    this.#timer = 0;
    const mine = asks.length ? codes.filter((code) => asks.includes(code)) : codes;
    if (!mine.length) return;
    try {
      const body = await get(`${this.path}${query({ ...this.query, stationcodes: mine, limit: page })}`);
      if (turn !== this.#turn) return;
      const others = this.all.filter((row) => !mine.includes(row.stationCode));
      this.total += others.length + body.results.length - this.all.length;
      this.all = [...others, ...body.results];
      this.changed();
    } catch (error) {
      if (!error.away && error.status !== 400) console.warn(error); // 400: the station is not among those asked for
    }
  }

  /** take puts rows as an action left them in the place of what they were. */
  take(rows) {
    const newer = new Map(rows.map((row) => [row.id, row]));
    this.all = this.all.map((row) => newer.get(row.id) ?? row);
    for (const row of rows) this.heard(row);
    this.changed();
  }

  stop() {
    this.#turn++;
    clearTimeout(this.#timer);
  }
}
