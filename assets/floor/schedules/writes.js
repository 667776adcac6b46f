// What people change: each is one write that is done once however often it is sent, and the last change can be taken back
// where the service allows.

import { post } from "../../shared/api.js";
import { now as present } from "../../shared/clock.js";
import { once, patience } from "../../shared/once.js";
import { nameOf } from "./bars.js";

const iso = (at) => new Date(at).toISOString();
const write = (path, body) => once("POST", path, body);
const remove = (id) => once("DELETE", `/schedule/${encodeURIComponent(id)}`);

/** fields are what people say of a schedule; POST /schedule takes them. */
export const fields = [
  "stationCode",
  "kind",
  "skuCode",
  "reasonCode",
  "workOrderReference",
  "plannedStartAt",
  "plannedEndAt",
  "plannedQuantity",
  "cycleTime",
  "unitsPerMinute",
  "unitsPerHour",
  "lineSpeedTarget",
  "partsPerCycle",
  "autoStart",
  "autoEnd",
  "autoEndOnQuantityComplete",
  "extendShift",
  "note",
];

/** saidOf gives what was said of a schedule, without what was not. */
export const saidOf = (s) =>
  Object.fromEntries(
    fields
      .filter((name) => s[name] !== null && s[name] !== undefined && s[name] !== false)
      .map((name) => [name, s[name]]),
  );

/** Writes changes schedules of a plan and tells changed() when there is another change to take back. */
export class Writes {
  last = null; // {text, back()}
  under = null; // a promise of the change that is under way

  constructor(plan, names, changed) {
    Object.assign(this, { plan, names, changed });
  }

  // change does what changes something; what takes it back is known when it is through.
  #change(work) {
    const under = (this.under = work().finally(() => {
      if (this.under === under) this.under = null;
    }));
    return under;
  }

  #done(answer, text, back) {
    const s = answer ? this.plan.take(answer.result) : null;
    this.last = back ? { text, back } : null;
    this.changed();
    return s;
  }

  /** bodyOf gives the request that brings a schedule to a place, {code, from, to}: [path, body]. */
  bodyOf(s, place, mode) {
    if (mode === "resize") {
      if (s.plannedQuantity && !s.plannedEnd)
        return ["/schedule", { id: s.id, plannedQuantity: place.quantity ?? this.guess(s, place) }];
      return ["/schedule", { id: s.id, plannedEndAt: iso(place.to) }];
    }
    return [
      `/schedule/${encodeURIComponent(s.id)}/move`,
      { plannedStartAt: iso(place.from), ...(place.code !== s.stationCode && { stationCode: place.code }) },
    ];
  }

  /** guess gives about how many units a length of time means, by what the schedule's quantity takes. */
  guess(s, place) {
    const begin = s.actualStart ?? s.plannedStart,
      length = (s.expectedEnd ?? 0) - begin;
    return length > 0 ? Math.max(1, Math.round((s.plannedQuantity * (place.to - begin)) / length)) : s.plannedQuantity;
  }

  /** try asks what would become of it: the schedule as it would be, or an error with the service's sentence. */
  async try(s, place, mode, signal = AbortSignal.timeout(patience)) {
    if (mode === "resize" && s.plannedQuantity && !s.plannedEnd) {
      // how many units are that, over the shifts?
      const asked = await post(
        "/schedule?dryrun=true",
        { id: s.id, plannedQuantity: null, plannedEndAt: iso(place.to) },
        { signal },
      );
      place.quantity = Math.max(1, Math.round(asked.result.expectedQuantity ?? this.guess(s, place)));
    }
    const [path, body] = this.bodyOf(s, place, mode);
    return (await post(`${path}?dryrun=true`, body, { signal })).result;
  }

  /** place brings a schedule to a place. */
  place(s, place, mode) {
    return this.#change(() => this.#place(s, place, mode));
  }

  async #place(s, place, mode) {
    if (mode === "resize" && place.quantity === undefined && s.plannedQuantity && !s.plannedEnd)
      await this.try(s, place, mode);
    const [path, body] = this.bodyOf(s, place, mode),
      answer = await write(path, body);
    const name = nameOf(s, this.names);
    if (mode === "resize") {
      const before =
        "plannedQuantity" in body ? { plannedQuantity: s.plannedQuantity } : { plannedEndAt: s.plannedEndAt };
      return this.#done(answer, `changing ${name}`, () => write("/schedule", { id: s.id, ...before }));
    }
    const before = {
      plannedStartAt: s.plannedStartAt,
      ...(s.plannedEndAt && { plannedEndAt: s.plannedEndAt }),
      ...(place.code !== s.stationCode && { stationCode: s.stationCode }),
    };
    return this.#done(answer, `moving ${name}`, () => write(`/schedule/${encodeURIComponent(s.id)}/move`, before));
  }

  /** save makes a schedule, or changes the one that s is by what body says anew. */
  save(s, body) {
    return this.#change(() => this.#save(s, body));
  }

  async #save(s, body) {
    const answer = await write("/schedule", s ? { id: s.id, ...body } : body);
    if (!s)
      return this.#done(answer, "planning", async () => {
        await remove(answer.result.id);
        return { result: { ...answer.result, state: "deleted", updatedAt: new Date(present()).toISOString() } };
      });
    const before = Object.fromEntries(Object.keys(body).map((name) => [name, s[name] ?? null]));
    return this.#done(answer, `changing ${nameOf(s, this.names)}`, () => write("/schedule", { id: s.id, ...before }));
  }

  /** start starts a planned schedule now; endRunning: what runs there ends. */
  start(s, endRunning) {
    return this.#change(async () =>
      this.#done(await write(`/schedule/${encodeURIComponent(s.id)}/start${endRunning ? "?endrunning=true" : ""}`, {})),
    );
  }

  /** end ends a running schedule now. */
  end(s) {
    return this.#change(async () => this.#done(await write(`/schedule/${encodeURIComponent(s.id)}/end`, {})));
  }

  /** remove deletes a planned schedule. It is taken back by planning the same anew. */
  remove(s) {
    return this.#change(() => this.#remove(s));
  }

  async #remove(s) {
    await remove(s.id);
    this.plan.take({ ...s, state: "deleted", updatedAt: new Date(Math.max(present(), s.updated + 1)).toISOString() });
    this.#done(null, `deleting ${nameOf(s, this.names)}`, () => write("/schedule", saidOf(s)));
  }

  /** undo takes the last change back, also one that is under way. It gives {text, s}, or null where there is none. */
  async undo() {
    await this.under?.catch(() => {});
    const { last } = this;
    if (!last) return null;
    this.last = null; // a second hand on the keys takes nothing back twice
    this.changed();
    const answer = await last.back().catch((error) => {
      this.last ??= last;
      this.changed();
      throw error;
    });
    const s = answer?.result ? this.plan.take(answer.result) : null;
    this.changed();
    return { text: last.text, s };
  }
}
