// The schedules that the page knows: read for the time that is looked at, and followed by their events.

import { get, query } from "../../shared/api.js";
import { asked } from "../../shared/scope.js";

const day = 86400000,
  most = 7 * day,
  page = 300; // ms, ms of one request, schedules of one answer: reading one holds no frame up for long
const rest = 300,
  again = 5000; // ms after an event until a schedule is read, ms until what could not be read is tried once more

/** ms of a time in an answer; null stays null. */
const ms = (text) => (text ? Date.parse(text) : null);

/** unknown is how long a schedule without a known end is drawn, ms; in the plan it is a moment. */
export const unknown = 3600000;

/** spanOf gives where a schedule lies: {from, to, known}. known is false where nothing tells the end. */
export function spanOf(s, now) {
  if (s.state === "completed") return { from: s.actualStart, to: s.actualEnd, known: true };
  const from = s.state === "running" ? s.actualStart : s.plannedStart;
  const end = s.expectedEnd ?? s.plannedEnd;
  if (s.state === "running") return { from, to: Math.max(end ?? 0, now), known: end !== null };
  return { from, to: end ?? from + unknown, known: end !== null };
}

// read takes an answer's schedule with its times as ms.
const read = (s) => ({
  ...s,
  plannedStart: ms(s.plannedStartAt),
  plannedEnd: ms(s.plannedEndAt),
  expectedEnd: ms(s.expectedEndAt),
  actualStart: ms(s.actualStartAt),
  actualEnd: ms(s.actualEndAt),
  updated: ms(s.updatedAt),
});

/** Plan is an EventTarget: "change" tells that schedules came, changed or went, the stations' codes as detail, a Set. */
export class Plan extends EventTarget {
  /** schedules by id; times are ms beside the text of the API. */
  schedules = new Map();
  loading = false;
  #stations = new Map(); // code -> its schedules by their begin
  #scope = {};
  #had = null; // {from, to}: what was read
  #turn = 0;
  #stale = new Set(); // ids of schedules whose counts an event did not tell
  #timer = 0;

  /** about says what part of the plant it is about; what was read before is forgotten. */
  about(scope) {
    this.#scope = { ...asked({ ...scope, range: "" }) };
    this.again();
  }

  /** again forgets what was read, so that it is asked for anew; what is shown stays until then. */
  again() {
    this.#had = null;
    this.#turn++;
  }

  /** of gives the schedules of a station, by their begin. */
  of(code) {
    return this.#stations.get(code) ?? [];
  }

  /** clashes gives the open schedules of a kind that would overlap one that lay between two moments at a station. */
  clashes({ id, kind, from, to }, code) {
    const end = Math.max(to, from + 1);
    return this.of(code).filter((o) => {
      if (o.id === id || o.kind !== kind || (o.state !== "planned" && o.state !== "running")) return false;
      const begin = o.actualStart ?? o.plannedStart;
      return begin < end && from < Math.max(o.expectedEnd ?? o.plannedEnd ?? 0, begin + 1);
    });
  }

  /** ensure reads what of the time between two moments is not known yet. */
  async ensure(from, to) {
    from = Math.floor(from / day) * day;
    to = Math.ceil(to / day) * day;
    const had = this.#had,
      apart = !had || from > had.to || to < had.from;
    if (!apart && from >= had.from && to <= had.to) return;
    const parts = apart
      ? [[from, to]]
      : [
          [from, had.from],
          [had.to, to],
        ].filter(([a, b]) => a < b);
    this.#had = apart ? { from, to } : { from: Math.min(from, had.from), to: Math.max(to, had.to) };
    const turn = apart ? ++this.#turn : this.#turn;
    const seen = apart ? new Set() : null,
      began = Date.now();
    this.loading = true;
    try {
      for (const [a, b] of parts)
        for (let at = a; at < b; at += most) await this.#read(at, Math.min(b, at + most), turn, seen);
      if (seen && turn === this.#turn) this.#forget(seen, began);
    } catch (error) {
      if (turn === this.#turn) this.#had = had;
      throw error;
    } finally {
      if (turn === this.#turn) this.loading = false;
    }
  }

  async #read(from, to, turn, seen) {
    for (let skip = 0, total = 1; skip < total && turn === this.#turn; skip += page) {
      const answer = await get(
        `/schedule${query({ ...this.#scope, rangecode: undefined, from: new Date(from).toISOString(), to: new Date(to).toISOString(), limit: page, skip })}`,
      );
      if (turn !== this.#turn) return;
      total = answer.paging.totalElements;
      const changed = new Set();
      for (const s of answer.results) {
        seen?.add(s.id);
        this.#put(read(s), changed);
      }
      this.#tell(changed);
    }
  }

  // forget drops what a whole reading did not have; what came by an event meanwhile stays.
  #forget(seen, began) {
    const changed = new Set();
    for (const s of [...this.schedules.values()]) if (!seen.has(s.id) && !(s.came >= began)) this.#drop(s, changed);
    this.#tell(changed);
  }

  /** take brings in what an answer or an event says of one schedule. */
  take(answer) {
    const s = { ...read(answer), came: Date.now() },
      before = this.schedules.get(s.id),
      changed = new Set();
    if (before && before.updated > s.updated) return before;
    if (s.state === "deleted") {
      if (before) this.#drop(before, changed);
    } else {
      if (before?.state === s.state && s.goodCount === null)
        Object.assign(s, { goodCount: before.goodCount, badCount: before.badCount, otherCount: before.otherCount });
      this.#put(s, changed);
    }
    this.#tell(changed);
    return s;
  }

  /** heard brings in what an event says. It has no counts: a schedule that has started is read for them, soon. */
  heard(event) {
    const s = this.take(event);
    if (s.state !== "running" && s.state !== "completed") return;
    this.#stale.add(s.id);
    if (!this.#timer) this.#timer = setTimeout(() => this.#recount(), rest);
  }

  async #recount() {
    const ids = [...this.#stale];
    let wait = rest;
    this.#stale.clear();
    for (const [i, id] of ids.entries()) {
      try {
        this.take((await get(`/schedule/${encodeURIComponent(id)}`)).result);
      } catch (error) {
        if (error.away || error.status === 429) {
          for (const left of ids.slice(i)) this.#stale.add(left);
          wait = again;
          break;
        }
      }
      if (!this.#timer) return; // the page was left
    }
    this.#timer = this.#stale.size && this.#timer ? setTimeout(() => this.#recount(), wait) : 0;
  }

  /** leave ends what goes on by itself. */
  leave() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#stale.clear();
  }

  #put(s, changed) {
    const before = this.schedules.get(s.id);
    if (before && before.updated > s.updated) return;
    if (before) this.#drop(before, changed);
    this.schedules.set(s.id, s);
    const list = this.#stations.get(s.stationCode) ?? this.#stations.set(s.stationCode, []).get(s.stationCode);
    const begin = s.actualStart ?? s.plannedStart;
    let at = list.length;
    while (at > 0 && (list[at - 1].actualStart ?? list[at - 1].plannedStart) > begin) at--;
    list.splice(at, 0, s);
    changed.add(s.stationCode);
  }

  #drop(s, changed) {
    this.schedules.delete(s.id);
    const list = this.#stations.get(s.stationCode),
      at = list.indexOf(s);
    if (at >= 0) list.splice(at, 1);
    changed.add(s.stationCode);
  }

  #tell(changed) {
    if (changed.size) this.dispatchEvent(new CustomEvent("change", { detail: changed }));
  }
}
