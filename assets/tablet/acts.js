// What the operator does: it goes to the queue, the page shows it as done, and what became of it is said. A control whose action
// is on its way rests, so that nothing is done twice.

import { connection } from "../shared/api.js";
import { now } from "../shared/clock.js";
import { sentence } from "../shared/dialog.js";
import { time } from "../shared/format.js";
import { offText } from "./flags.js";
import { queue } from "./queue.js";
import { effectOf } from "./shown.js";

const settling = 4000; // ms that what was sent is shown as done, while the service tells what became of it
const least = 400; // ms that a control rests at least
const told = 8000; // ms that it stands there what was done

/**
 * Acts is an EventTarget: "change" when anything of it did. last is what was done last: {label, state, text}, state "sending",
 * "sent", "waiting" or "refused"; null after a while.
 */
class Acts extends EventTarget {
  last = null;
  #resting = new Set();
  #waited = new Map(); // what waited a moment ago, by id
  #landing = []; // what was sent a moment ago
  #due = new Map(); // by id: {run, good, bad, up, upBad}, the counts of a schedule at which an entry is in them, and which way they go
  #timer = 0;

  constructor() {
    super();
    queue.addEventListener("change", () => this.#compare());
  }

  /** rests tells whether a control has an action on its way. */
  rests(control) {
    return this.#resting.has(control);
  }

  /**
   * act does something by a control: {path, body, label, stamp} as the queue takes them, at a station (station.js) of which view
   * is shown (shown.js). It gives what became of it, or undefined where the control rests.
   */
  async act(control, station, view, { path, body, label, stamp = "at" }) {
    if (this.#resting.has(control)) return undefined;
    this.#resting.add(control);
    this.#say({ label, state: "sending" });
    const began = performance.now();
    const due = this.#dueOf(view, path, body),
      known = new Set(queue.waiting.map((action) => action.id));
    const note = () => {
      const mine = queue.waiting.find(
        (action) => !known.has(action.id) && action.path === path && action.label === label,
      );
      if (!mine) return;
      queue.removeEventListener("change", note);
      this.#due.set(mine.id, due);
    };
    queue.addEventListener("change", note);
    const zone = station.config?.plant.timezone;
    const sending = queue.act({ path, body, label, station: station.code, zone, stamp });
    const result = connection.up
      ? await sending
      : await Promise.race([sending, after(least).then(() => ({ state: "waiting" }))]);
    queue.removeEventListener("change", note);
    this.#say({ label, state: result.state, text: result.state === "refused" ? refusal(result.error, zone) : "" });
    if (path.startsWith("/production")) station.again("entries");
    await after(Math.max(0, least - (performance.now() - began)));
    this.#resting.delete(control);
    this.#changed();
    return result;
  }

  /**
   * pending gives the actions that a station, as the service tells of it, is not known to have taken in, in their order. Entries
   * have the schedule that ran (run), and are counted where the counts have them in them already.
   */
  pending(station) {
    const fresh = performance.now() - settling;
    this.#landing = this.#landing.filter((action) => action.sentAt > fresh);
    return [...this.#landing, ...queue.waiting]
      .filter((action) => action.station === station.code && !this.#runs(action, station.now))
      .map((action) => ({
        ...action,
        run: this.#due.get(action.id)?.run,
        counted: this.#counted(action, station.now),
      }));
  }

  // dueOf tells what is counted, and what runs, when an action is taken in.
  #dueOf({ run, entries }, path, body) {
    const undone = /^\/production\/(.+)\/undo$/.exec(path)?.[1];
    const entry = undone ? entries.find((e) => e.id === undone) : path === "/production" ? body : null;
    if (!entry || !run) return { run: run?.id };
    const { good, bad } = effectOf(entry, run.countedByHand),
      sign = undone ? -1 : 1;
    return {
      run: run.id,
      good: run.goodCount + sign * good,
      bad: run.badCount + sign * bad,
      up: sign * good,
      upBad: sign * bad,
    };
  }

  // counted tells whether the counts that the service tells have an entry in them already.
  #counted({ id }, station) {
    const due = this.#due.get(id),
      run = station?.schedule;
    const there = (is, then, way) => way === 0 || (way > 0 ? is >= then : is <= then);
    return (
      due?.good !== undefined &&
      run?.id === due.run &&
      there(run.goodCount, due.good, due.up) &&
      there(run.badCount, due.bad, due.upBad)
    );
  }

  // runs tells whether what was started runs by what the service tells.
  #runs(action, station) {
    const due = this.#due.get(action.id),
      { path, body } = action;
    if (!path.startsWith("/quick-schedule")) return false; // it can be done to what has it in it, and changes nothing
    const run = body.skuCode ? station?.schedule : station?.nonProductionSchedule;
    return (
      Boolean(run) &&
      run.skuCode === (body.skuCode ?? null) &&
      run.reasonCode === (body.reasonCode ?? null) &&
      (action.sentAt !== undefined || (due !== undefined && run.id !== due.run))
    );
  }

  // compare finds what waited and does not any more: it was sent, or refused.
  #compare() {
    const waiting = new Map(queue.waiting.map((action) => [action.id, action]));
    const refused = new Set(queue.refused.map((action) => action.id));
    for (const [id, action] of this.#waited) {
      if (waiting.has(id)) continue;
      if (refused.has(id)) {
        this.#due.delete(id);
        continue;
      }
      this.#landing.push({ ...action, sentAt: performance.now() }); // no time of day: that may be set meanwhile
      setTimeout(() => {
        this.#due.delete(id);
        this.#changed();
      }, settling + 50);
    }
    this.#waited = waiting;
    this.#changed();
  }

  #say(what) {
    clearTimeout(this.#timer);
    this.last = what;
    if (what.state !== "sending")
      this.#timer = setTimeout(() => {
        this.last = null;
        this.#changed();
      }, told);
    this.#changed();
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }
}

const fields = {
  causeCode: "The reason",
  reasonCode: "The reason",
  skuCode: "The SKU",
  initials: "The initials",
  note: "The notes",
  text: "The message",
  good: "Good",
  bad: "Scrap",
  reject: "The units",
  stationCode: "The station",
  at: "The time",
  endAt: "The end",
  plannedQuantity: "The quantity",
  workOrderReference: "The work order",
};

/** refusal says in a sentence why the service did not do something, with times by the clock of a zone. */
export function refusal(error, zone) {
  const known = (error.details ?? []).filter((d) => fields[d.field]);
  const said = known.length
    ? known.map((d) => `${fields[d.field]} ${d.issue}.`).join(" ")
    : offText(error.message) || sentence(error);
  return said.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (moment) =>
    time(moment, { zone, date: now() - Date.parse(moment) > 20 * 3600_000 }),
  );
}

const after = (ms) =>
  new Promise((done) => {
    setTimeout(done, ms);
  });

export const acts = new Acts();
