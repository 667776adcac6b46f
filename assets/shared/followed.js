// What a list of the API gives, read page by page and read again, station by station, when an event says that something changed.

import { get, query } from "./api.js";

/** Rows that one request gives, and that are read before somebody asks for more. */
const page = 1000,
  atOnce = 5000;

/** Milliseconds that events are waited for before stations are read again: what changes is often told more than once. */
const pause = 400;

/** Milliseconds until what could not be read is asked for once more. */
const patience = 5000;

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
  #stopped = false;

  constructor(path, changed) {
    Object.assign(this, { path, changed });
  }

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
    const turn = ++this.#turn;
    Object.assign(this, { loading: true, error: null });
    this.changed();
    try {
      await this.#pages(this.query, turn, (all, total) => {
        Object.assign(this, { all, total });
        this.changed();
      });
    } catch (error) {
      if (turn === this.#turn) this.error = error;
    } finally {
      if (turn === this.#turn) {
        this.loading = false;
        this.changed();
      }
    }
  }

  // pages reads what there is, page by page, and tells after each what it has. It counts what came and not what it has: while
  // it reads, new rows push others into the next page, where they come once more; a page of nothing else is the last one.
  async #pages(values, turn, tell) {
    const all = new Map();
    for (let skip = 0, total = Infinity; skip < Math.min(total, this.#limit); ) {
      const body = await get(`${this.path}${query({ ...values, limit: page, skip })}`);
      if (turn !== this.#turn) return;
      const before = all.size;
      for (const row of body.results) all.set(row.id, row);
      skip += body.results.length;
      total = all.size > before ? body.paging.totalElements : skip;
      tell([...all.values()], body.paging.totalElements);
    }
  }

  /** heard takes an event of a station: it is read again soon. */
  heard({ stationCode }) {
    this.#dirty.add(stationCode);
    this.#timer ||= setTimeout(() => this.#again(), pause);
  }

  // again reads stations anew, one time after the other, so that what is older comes never over what is newer. While all is
  // read it waits: that may be of before the event.
  async #again() {
    const turn = this.#turn,
      wait = this.loading ? pause : await this.#stations(turn);
    this.#timer = this.#dirty.size && !this.#stopped ? setTimeout(() => this.#again(), wait) : 0;
  }

  // stations reads those that an event was of; it gives how long to wait until what came meanwhile is read.
  async #stations(turn) {
    const asks = this.query.stationcodes ?? [],
      codes = [...this.#dirty].filter((code) => !asks.length || asks.includes(code));
    this.#dirty.clear();
    if (!codes.length) return pause;
    try {
      let rows = [];
      await this.#pages({ ...this.query, stationcodes: codes }, turn, (all) => {
        rows = all;
      });
      const partly = this.total > this.all.length; // then nobody knows how many of these were not read
      const { paging } = partly ? await get(`${this.path}${query({ ...this.query, limit: 1 })}`) : {};
      if (turn !== this.#turn) return pause;
      const all = [...this.all.filter((row) => !codes.includes(row.stationCode)), ...rows];
      Object.assign(this, { all, total: paging?.totalElements ?? all.length });
      this.changed();
    } catch (error) {
      if (turn !== this.#turn || error.status === 400) return pause; // 400: the station is not among those asked for
      for (const code of codes) this.#dirty.add(code);
      return Math.max(patience, error.retryAfter * 1000);
    }
    return pause;
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
    this.#stopped = true;
    clearTimeout(this.#timer);
  }
}
