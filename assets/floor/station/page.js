// What the station's page knows and does: the time that it shows, what is read of it, and how it follows the clock.

import { now as time } from "../../shared/clock.js";
import { live } from "../../shared/live.js";
import { addressOf, ranges } from "../../shared/scope.js";
import { chartsOf } from "./charts.js";
import { Cursor } from "./cursor.js";
import { detailsOf, messagesOf, shiftsOf, spanOf, timelineOf } from "./data.js";
import { between, minute, moved, placed, readRange, spread, zoomed } from "./range.js";
import { stopsOf } from "./lists.js";

const rest = 150; // ms that hands have to rest before the figures of a time are asked for
const settled = 60; // ms that a wheel or a finger has to rest before its time stands in the address and is read
const late = 2500; // ms after its end at which a minute is read

export class Page {
  view = null; // {text, from, to, follow}
  timeline = null;
  charts = [];
  details = null;
  stops = [];
  messages = [];
  picked = null;
  error = null;
  loading = false;
  picture = null;
  shown = null; // [from, to] of the charts: they follow when what they show has come
  #abort = null;
  #timers = {};
  #heard = [];

  constructor(code, names, ctx) {
    Object.assign(this, { code, names, ctx, profile: ctx.query.get("profile") || "default" });
    this.zone = names.plantOf(code)?.timezone ?? "UTC";
    this.cursor = new Cursor((at) => this.told(at));
    this.actions = {
      zoom: (factor, at) => this.zoom(factor, at, true),
      show: (from, to, done) => this.show(from, to, done),
      pick: (at, lane) => this.pick(at, lane),
    };
  }

  get station() {
    return live.stations.get(this.code);
  }

  /** start begins to follow the station; the first timeline is on its way when it comes back. */
  async start() {
    this.end = await live.follow({ stationcodes: this.code });
    this.listen(live, "stations", (event) => event.detail.has(this.code) && this.changed());
    for (const type of ["issue", "schedule"])
      this.listen(live, type, (event) => event.detail.stationCode === this.code && this.refresh(1000));
    this.listen(live, "message", (event) => event.detail.stationCode === this.code && this.readMessages());
    this.listen(live, "reset", () => this.refresh(0));
    if (this.station && !this.station.shift) this.shifts = await shiftsOf(this.code, time());
    this.readMessages();
    this.take(this.ctx.query.get("range") ?? "");
    this.tick();
  }

  listen(target, type, told) {
    target.addEventListener(type, told);
    this.#heard.push(() => target.removeEventListener(type, told));
  }

  leave() {
    this.end?.();
    for (const end of this.#heard.splice(0)) end();
    for (const timer of Object.values(this.#timers)) clearTimeout(timer);
    this.#abort?.abort();
    this.left = true;
  }

  // later does something once, so many ms after it was last wanted.
  later(name, ms, work) {
    this.drop(name);
    this.#timers[name] = setTimeout(() => {
      delete this.#timers[name];
      work();
    }, ms);
  }

  drop(name) {
    clearTimeout(this.#timers[name]);
    delete this.#timers[name];
  }

  /** shift gives [start, end] of the shift that is shown without a range: the one that goes on, else the last, else eight hours. */
  shift(now) {
    const shift = this.station?.shift;
    if (shift) return [Date.parse(shift.startAt), shift.endAt ? Date.parse(shift.endAt) : now];
    const last = this.shifts?.at(-1);
    if (!last) return [now - 8 * 60 * minute, now];
    return [last.from, last.to > now - 2 * minute ? now : last.to]; // of a meter, whose shifts have no figures and may go on
  }

  /** take shows the time of a range that stands in the address. */
  take(text) {
    this.drop("load"); // of a hand that moved the time before
    const now = time(),
      before = this.view,
      shift = this.shift(now);
    this.view = readRange(text, now, shift, now <= shift[1] || Boolean(this.station?.shift));
    if (this.view.from === null)
      Object.assign(this.view, before ? { from: before.from, to: before.to } : { from: shift[0], to: shift[1] });
    this.draw();
    this.load();
  }

  /** go shows another range, and puts it into the address: as a step that the browser's way back undoes, or in place. */
  go(text, { step = true } = {}) {
    this.picked = null;
    this.write(text, step);
    this.take(text);
  }

  write(text, step) {
    const address = addressOf({ range: text }, { profile: this.profile === "default" ? "" : this.profile });
    if (address === location.pathname + location.search) return;
    history[step ? "pushState" : "replaceState"](null, "", address);
  }

  zoom(factor, about, soon = false) {
    if (!soon) return this.go(zoomed(this.view, factor, time(), about));
    const now = time(),
      { follow } = this.view,
      [from, to] = spread(this.view, factor, now, about); // a wheel turns on, by less than minutes
    this.view = { text: between(from, to), from, to, follow };
    this.draw();
    this.later("load", settled, () => this.go(placed(from, to - from, now, { follow }), { step: false }));
  }

  move(part) {
    this.go(moved(this.view, part, time()));
  }

  // show shows a time while a hand moves it; done tells that it rests.
  show(from, to, done) {
    if (done)
      return this.go(to > time() - minute ? zoomed({ from, to: time(), follow: true }, 1, time()) : between(from, to));
    this.view = { text: between(from, to), from, to, follow: false };
    this.draw();
    this.later("load", settled, () => this.go(this.view.text, { step: false }));
  }

  /** step goes to the shift before, or after, the time that is shown. */
  async step(way) {
    this.shifts = await shiftsOf(this.code, time());
    const middle = (this.view.from + this.view.to) / 2,
      length = this.view.to - this.view.from;
    const found =
      way < 0
        ? this.shifts.findLast((s) => s.to <= Math.max(this.view.from, middle - length / 4))
        : this.shifts.find((s) => s.from >= middle + length / 4);
    if (found) this.go(between(found.from, found.to));
    else if (way > 0) this.go("");
    else this.move(way);
  }

  /** load reads the time that is shown; what is under way for another one is given up. */
  async load() {
    this.#abort?.abort();
    const { view } = this,
      abort = (this.#abort = new AbortController());
    this.loading = true;
    try {
      const points = Math.max(300, Math.min(1500, Math.round(document.querySelector(".ribbon")?.clientWidth ?? 1000)));
      const timeline = await timelineOf(this.code, view, points, abort.signal);
      if (abort.signal.aborted) return;
      performance.clearMarks(); // the page may stay for weeks
      performance.mark("station-read");
      if (view.text in ranges)
        Object.assign(view, { from: timeline.from, to: Math.max(timeline.to, timeline.from + minute) });
      Object.assign(this, {
        timeline,
        charts: timeline.rows ? chartsOf(timeline) : [],
        shown: [view.from, view.to],
        loading: false,
        error: null,
      });
      this.draw();
      queueMicrotask(() => queueMicrotask(() => performance.mark("station-drawn"))); // the page draws in a microtask, and charts in one of its own
      this.later("details", this.details ? rest : 0, () => this.readDetails(view, abort.signal));
    } catch (error) {
      if (abort.signal.aborted || this.left) return;
      Object.assign(this, { error, loading: false });
      this.ctx.update();
    }
  }

  async readDetails(view, signal) {
    try {
      const span =
        view.text in ranges
          ? spanOf(view)
          : {
              from: new Date(view.from).toISOString(),
              to: new Date(Math.max(view.from + minute, Math.min(view.to, time()))).toISOString(),
            };
      const details = await detailsOf(this.code, span, this.profile, signal);
      if (signal.aborted) return;
      details.length = this.timeline.to - this.timeline.from;
      Object.assign(this, { details, stops: stopsOf(details.issues, time()) });
      this.draw();
    } catch (error) {
      if (signal.aborted || this.left) return;
      this.error = error;
      this.ctx.update();
    }
  }

  async readMessages() {
    try {
      this.messages = await messagesOf(this.code);
      this.ctx.update();
    } catch (error) {
      if (!this.left) console.warn(error.message);
    }
  }

  choose(profile) {
    this.profile = profile;
    this.write(this.view.text, false);
    this.load();
    this.ctx.update();
  }

  // changed is told when the station's live values are others; a shift that has begun is shown.
  changed() {
    const now = this.station?.shift;
    if (now && this.view && !this.view.text) {
      const [from, to] = this.shift(time());
      if (from !== this.view.from || (to !== this.view.to && now.endAt)) return this.take("");
    }
    this.ctx.update();
  }

  // tick reads the next whole minute when it is over, while the time that is shown follows the clock.
  tick() {
    const now = time(),
      next = Math.ceil((now + 1) / minute) * minute + late - now;
    this.later("tick", next > minute ? next - minute : next, () => {
      this.refresh(0);
      this.tick();
    });
  }

  refresh(ms) {
    if (!this.view?.follow) return;
    this.later("refresh", ms, async () => {
      if (document.visibilityState !== "visible") return;
      const { view } = this;
      if (!view.text && !this.station?.shift) this.shifts = await shiftsOf(this.code, time()).catch(() => this.shifts);
      if (view === this.view && !this.left && !this.#timers.load) this.take(view.text);
    });
  }

  /** draw makes a new picture of what is known, and the page with it. */
  draw() {
    const { names, timeline, view, zone, stops } = this,
      now = time();
    this.picture = {
      timeline,
      from: view.from,
      to: view.to,
      now,
      zone,
      stops: timeline?.runs ? stopsIn(timeline.runs) : stops,
      skuName: (code) => names.sku(code).name,
      reasonName: (code) => names.reason(code).name,
    };
    this.ctx.update();
  }

  pick(at, lane) {
    this.picked = this.#at(at, lane);
    this.ctx.update();
  }

  /** told writes what there is at the cursor. */
  told(at) {
    const line = document.querySelector(".at-cursor");
    if (line) line.textContent = at === null ? "" : this.describe(at);
  }

  // #at finds the stretch of a lane at a moment.
  #at(at, lane) {
    const { timeline } = this,
      within = (list) => list?.find((item) => item.start <= at && at < item.end);
    if (!timeline) return null;
    if (lane === "stops") {
      const stop = within(this.stops) ?? within(this.picture.stops);
      return stop && { ...stop, kind: "stop" };
    }
    if (lane === "plan" || lane === "shift") {
      const plan = within(timeline.schedules);
      return plan && { ...plan, kind: lane === "shift" ? "shift" : "plan" };
    }
    const run = within(timeline.runs);
    if (run) return { ...run, kind: "run" };
    const row = Math.floor((at - timeline.from) / timeline.stepMs);
    return row >= 0 && row < timeline.rows
      ? {
          kind: "row",
          row,
          start: timeline.from + row * timeline.stepMs,
          end: Math.min(timeline.to, timeline.from + (row + 1) * timeline.stepMs),
        }
      : null;
  }

  describe(at) {
    return this.words(at, this.#at(at, "time"), this.#at(at, "plan"));
  }
}

const stopsIn = (runs) =>
  runs
    .filter((run) => run.class === "downtime")
    .map((run) => ({ start: run.start, end: run.end, cause: run.causeCode, id: run.issueId, excluded: run.excluded }));
