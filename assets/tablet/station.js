// What the tablet knows of the station that it shows: read from the service, followed by its events, kept for when the
// network is away. What the operator has done and is not sent yet is shown on top of it (shown.js).

import { connection, query } from "../shared/api.js";
import { keep } from "../shared/keep.js";
import { live } from "../shared/live.js";
import { now } from "../shared/clock.js";
import { recall } from "./offline.js";

const hour = 3600_000; // ms
const back = 12 * hour; // how far back stops and entries are shown: a shift and what was before it
const week = 168 * hour;
const pause = 250; // ms: events that come together are one reading
const retry = 5000; // ms until what the service refused to tell is asked for once more
const busy = 5000; // ms between readings of what changes all the time
const iso = (at) => new Date(at).toISOString();

// The lists: which path each is read from, and which events make it old.
const lists = {
  planned: {
    of: "schedule",
    path: (s) =>
      `/schedule${query({ stationcodes: s.lane(), state: "planned", from: iso(now() - week), to: iso(now() + week), limit: 100 })}`,
  },
  issues: {
    of: "issue",
    path: (s) => `/issue${query({ stationcodes: s.code, from: iso(now() - back), to: iso(now() + hour), limit: 200 })}`,
  },
  entries: {
    of: "station",
    path: (s) =>
      `/production${query({ stationcodes: s.code, from: iso(now() - back), to: iso(now() + hour), limit: 1000 })}`,
  },
  tasks: {
    of: "task",
    path: (s) => (s.flag("enableTasks") ? `/task${query({ stationcode: s.code, state: "pending", limit: 500 })}` : ""),
  },
  messages: { of: "message", path: (s) => `/message${query({ stationcodes: s.code, limit: 200 })}` }, // all that are kept of a station: one that waits is not left out
};

/**
 * Station is an EventTarget: "change" when anything of it may have, "follow" when it begins to be followed. config is
 * GET /station/{code}; now is the station of GET /station; running are schedules that run, by id; planned, issues, entries, tasks and
 * messages are lists as the service gives them, null as long as they are not known; error is why nothing is known.
 */
export class Station extends EventTarget {
  code = "";
  config = null;
  now = null;
  running = new Map();
  planned = null;
  issues = null;
  entries = null;
  tasks = null;
  messages = null;
  error = null;
  #who = "";
  #all = []; // codes of the stations of the tablet
  #siblings = [];
  #timers = new Map();
  #end = null;
  #turn = 0;
  #keptAt = 0;
  #retry = 0;

  constructor() {
    super();
    live.addEventListener("stations", ({ detail }) => this.#lived(detail));
    for (const type of ["issue", "schedule", "task", "message"])
      live.addEventListener(type, ({ detail }) => this.#event(type, detail));
    live.addEventListener("account", () => this.#refresh());
    live.addEventListener("reset", () => this.#readLists());
    connection.addEventListener("change", () => {
      if (connection.up) this.#refresh();
      else this.#changed();
    });
  }

  /** open shows another station; all are the codes of those that the tablet has. */
  async open(who, code, all) {
    const turn = ++this.#turn;
    Object.assign(this, {
      code,
      config: null,
      now: live.stations.get(code) ?? null,
      running: new Map(),
      planned: null,
      issues: null,
      entries: null,
      tasks: null,
      messages: null,
      error: null,
    });
    [this.#who, this.#all, this.#siblings] = [who, all, []];
    this.#changed();
    try {
      const { body } = await recall(`/station/${encodeURIComponent(code)}`, who);
      if (turn !== this.#turn) return;
      this.config = body.result;
      await this.#family();
      this.now ??= (await keep.get(this.#name("now"))) ?? null;
    } catch (error) {
      if (turn === this.#turn) this.error = error;
    }
    if (turn !== this.#turn) return;
    this.#changed();
    if (this.config) await Promise.all([this.#follow(turn), this.#readLists()]);
  }

  /** followed tells whether what is known of the station is as it is now. */
  get followed() {
    return Boolean(this.#end) && live.oldSince() === 0;
  }

  /** flag tells whether a flag is on here. */
  flag(name) {
    return this.config?.flags[name]?.value === "on";
  }

  /** lane gives the stations whose schedules can start here. */
  lane() {
    return [this.code, ...this.#siblings.map((s) => s.stationCode)];
  }

  /** nameOf gives the name of a station of the lane. */
  nameOf(code) {
    return live.stations.get(code)?.name ?? this.#siblings.find((s) => s.stationCode === code)?.name ?? code;
  }

  /** again reads a list again, soon (in ms). */
  again(name, soon = pause) {
    const timer = this.#timers.get(name),
      due = Date.now() + soon;
    if (timer && timer.due <= due) return;
    clearTimeout(timer?.id);
    this.#timers.set(name, {
      due,
      id: setTimeout(() => {
        this.#timers.delete(name);
        this.#read(name);
      }, soon),
    });
  }

  // counted finds out what people have entered, where another count may be theirs; machines count all the time.
  #counted(was, is) {
    const good = was?.goodCount !== is?.goodCount,
      bad = was?.badCount !== is?.badCount;
    if ((good || bad) && (was?.id !== is?.id || is?.countedByHand)) this.again("entries");
    else if (bad) this.again("entries", busy);
  }

  /** beside reads what the tablet's other stations are, so that they can be shown without the network too. */
  async beside() {
    for (const code of this.#all.slice(0, 12))
      if (code !== this.code) await recall(`/station/${encodeURIComponent(code)}`, this.#who).catch(() => {});
  }

  // family finds the other stations of the group, where their schedules may start here.
  async #family() {
    const { plant, group } = this.config;
    if (!this.flag("enableScheduleStationFlexibility")) {
      this.#siblings = [];
      return;
    }
    const { body } = await recall(`/station${query({ plantcode: plant.code, groupcode: group.code })}`, this.#who);
    this.#siblings = body.results.filter((s) => s.stationCode !== this.code);
  }

  async #follow(turn) {
    const before = this.#end;
    this.#end = null;
    try {
      const end = await live.follow({ stationcodes: [...new Set([...this.#all, ...this.lane()])] });
      if (turn === this.#turn) this.#end = end;
      else end();
      this.#lived(new Set([this.code]));
      if (turn === this.#turn) this.dispatchEvent(new Event("follow"));
    } catch {
      // the network is away, and it is followed when it is back; or the service refuses for now, such as when it is busy
      clearTimeout(this.#retry);
      this.#retry = setTimeout(() => {
        if (turn === this.#turn && !this.#end && connection.up) this.#follow(turn);
      }, retry);
    } finally {
      before?.();
    }
  }

  async #refresh() {
    if (!this.code) return;
    if (!this.config) {
      await this.open(this.#who, this.code, this.#all);
      return;
    }
    const turn = this.#turn;
    try {
      const { body } = await recall(`/station/${encodeURIComponent(this.code)}`, this.#who);
      if (turn !== this.#turn) return;
      const flexible = this.flag("enableScheduleStationFlexibility");
      this.config = body.result;
      if (!this.#end || flexible !== this.flag("enableScheduleStationFlexibility")) {
        await this.#family();
        await this.#follow(turn);
      }
      this.#readLists();
    } catch (error) {
      // such as a station that has left the manifest
      if (turn === this.#turn && !error.away && error.status !== 401) this.error = error; // who is signed out works on
    }
    this.#changed();
  }

  #lived(codes) {
    if (!codes.has(this.code) && !this.#all.some((code) => codes.has(code))) return;
    const station = live.stations.get(this.code);
    if (station && station !== this.now) {
      const was = this.now;
      this.now = station;
      this.#counted(was?.schedule, station.schedule);
      for (const run of [was?.schedule, was?.nonProductionSchedule])
        if (run && run.id !== station.schedule?.id && run.id !== station.nonProductionSchedule?.id)
          this.running.delete(run.id);
      for (const kind of ["schedule", "nonProductionSchedule"])
        if (station[kind] && !this.running.has(station[kind].id)) this.#details(station[kind].id, kind);
      if (Date.now() - this.#keptAt > 5000) {
        this.#keptAt = Date.now();
        keep.set(this.#name("now"), station);
      }
    }
    this.#changed();
  }

  async #details(id, kind) {
    // what is planned of a schedule that runs
    try {
      const { body } = await recall(`/schedule/${encodeURIComponent(id)}`, this.#who, `${kind}:${this.code}`); // the last one alone is kept
      if (body.result.id !== id) return; // it was not read before the network went
      this.running.set(id, body.result);
      this.#changed();
    } catch {
      /* it is shown without */
    }
  }

  #event(type, detail) {
    if (!this.config || !this.lane().includes(detail.stationCode)) return;
    if (type === "schedule" && detail.state === "running" && detail.stationCode === this.code)
      this.running.set(detail.id, detail);
    for (const [name, list] of Object.entries(lists)) if (list.of === type) this.again(name);
    this.#changed();
  }

  #readLists() {
    if (!this.config) return undefined;
    return Promise.all(Object.keys(lists).map((name) => this.#read(name)));
  }

  async #read(name) {
    const turn = this.#turn,
      path = lists[name].path(this);
    try {
      const list = path ? (await recall(path, this.#who, `${name}:${this.code}`)).body.results : [];
      if (turn === this.#turn) this[name] = list;
    } catch (error) {
      if (error.away === false && turn === this.#turn) this[name] ??= [];
    }
    if (turn === this.#turn) this.#changed();
  }

  #name(what) {
    return `read:${this.#who}:${what}:${this.code}`;
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }
}
