// What becomes of an imported table of schedules: each row is tried by the service before anything is written, and then
// written by itself, with a key of its own, so that an import that was broken off goes on where it was.

import { connection, get, post } from "../../shared/api.js";
import { keep } from "../../shared/keep.js";
import { newKey, patience } from "../../shared/once.js";
import { say } from "../../shared/words.js";
import { spanText } from "../../shared/zone.js";
import { bodyOfRow, columnOf, readSchedules } from "./table.js";

const together = 4; // rows that are tried at the same time
// nameOf names what is kept of a person's import that is under way.
const nameOf = ({ accountId, email }) => `schedules-import:${accountId}:${email}`;

/** kept gives the import of a person that was broken off, or undefined: {id, file, rows: [{row, body, id, does}], results: []}. */
export const kept = (profile) => keep.get(nameOf(profile)).catch(() => undefined);

/** forget drops it. */
export const forget = (profile) => keep.remove(nameOf(profile)).catch(() => {});

/**
 * Import reads a table and finds out what each row does. rows: [{row, id, does, body, view, problems: [{row, column, issue}]}];
 * does is "make", "change", "nothing" or "refuse".
 */
export class Import {
  rows = [];
  problems = [];
  unknown = [];
  tried = 0;
  #stop = new AbortController();

  constructor({ all, names, plan, update }) {
    Object.assign(this, { all, names, plan, update });
  }

  zoneOf = (code) => this.names.plantOf(code)?.timezone ?? "UTC";

  stop() {
    this.#stop.abort();
  }

  /** examine reads the text and has the service try every row. */
  async examine(text) {
    const { rows, unknown, problems } = readSchedules(this.all, text);
    Object.assign(this, {
      rows: problems.length ? [] : rows.map((row) => ({ ...row, does: "", problems: [] })),
      unknown,
      problems,
    });
    const waiting = [...this.rows];
    const work = async () => {
      for (let row = waiting.shift(); row && !this.#stop.signal.aborted; row = waiting.shift()) {
        await this.#try(row);
        this.tried++;
        this.update();
      }
    };
    await Promise.all(Array.from({ length: together }, work));
    this.#among();
    this.update();
  }

  get ready() {
    return this.rows.length > 0 && this.tried === this.rows.length;
  }
  count(does) {
    return this.rows.filter((row) => row.does === does).length;
  }

  async #try(row) {
    const refuse = (column, issue) => {
      row.does = "refuse";
      row.problems.push({ row: row.row, column, issue });
    };
    try {
      const was = row.id ? await this.#was(row.id) : null;
      const { body, problems } = bodyOfRow(row, was, this.zoneOf);
      Object.assign(row, { was, body: was ? { id: was.id, ...body } : body, problems: [...problems] });
      if (problems.length) {
        row.does = "refuse";
        return;
      }
      if (was && Object.keys(body).length === 0) {
        row.does = "nothing";
        return;
      }
      row.view = (await post("/schedule?dryrun=true", row.body, { signal: this.#stop.signal })).result;
      row.does = was ? "change" : "make";
    } catch (error) {
      if (error.name === "AbortError") return;
      if (error.status === 404 && row.id)
        refuse("Schedule", `there is no schedule “${row.id}”; leave the cell empty to make one`);
      else if (error.details?.length)
        for (const { field, issue } of error.details) refuse(columnOf(this.all, field), issue);
      else refuse("", error.message);
    }
  }

  async #was(id) {
    return (
      this.plan.schedules.get(id) ??
      (await get(`/schedule/${encodeURIComponent(id)}`, { signal: this.#stop.signal })).result
    );
  }

  // among finds rows that the service takes one by one, and that would overlap each other.
  #among() {
    const taken = new Map();
    for (const row of this.rows.filter((r) => r.view)) {
      const { view } = row,
        from = Date.parse(view.plannedStartAt),
        to = Math.max(from + 1, Date.parse(view.expectedEndAt ?? "") || 0),
        lane = `${view.stationCode}\n${view.kind}`;
      const others = taken.get(lane) ?? taken.set(lane, []).get(lane),
        other = others.find((o) => o.from < to && from < o.to);
      if (!other) {
        others.push({ row: row.row, from, to });
        continue;
      }
      row.does = "refuse";
      row.problems.push({
        row: row.row,
        column: "Start",
        issue: `would overlap row ${other.row}, ${spanText(other.from, other.to, this.zoneOf(view.stationCode))}`,
      });
    }
  }

  /** job gives what is to be written, as it is kept until it is done. */
  job(file) {
    return {
      id: newKey(),
      file,
      rows: this.rows
        .filter((r) => r.does === "make" || r.does === "change")
        .map(({ row, body, does }) => ({ row, body, does })),
      results: [],
    };
  }
}

/**
 * write writes the rows of a job that are left, one by one; told() after each. Where the service is away it waits. It gives
 * whether all are through; signal breaks it off.
 */
export async function write(job, { told, plan, profile, signal }) {
  const name = nameOf(profile);
  await keep.set(name, job).catch(() => {});
  while (job.results.length < job.rows.length && !signal.aborted) {
    const at = job.results.length,
      { row, body, does } = job.rows[at];
    try {
      const { result } = await post("/schedule", body, {
        headers: { "Idempotency-Key": `${job.id}-${row}` },
        signal: soon(signal),
      });
      plan.take(result);
      job.results.push({ row, does, id: result.id });
    } catch (error) {
      if (error.name === "AbortError") break;
      if (error.away || error.status === 429) {
        await pause(error, signal);
        continue;
      }
      job.results.push({
        row,
        does: "refuse",
        issue: error.details?.length ? error.details.map((d) => `${d.field} ${d.issue}`).join("; ") : error.message,
      });
    }
    if (job.results.length % 10 === 0) await keep.set(name, job).catch(() => {});
    told();
  }
  if (job.results.length < job.rows.length) {
    await keep.set(name, job).catch(() => {});
    return false;
  }
  await forget(profile);
  return true;
}

// soon ends what takes too long, too.
const soon = (signal) => AbortSignal.any([signal, AbortSignal.timeout(patience)]);

// pause waits until the service answers again.
const pause = (error, signal) =>
  new Promise((done) => {
    const timer = setTimeout(finish, (error.retryAfter || 3) * 1000);
    connection.addEventListener("change", finish);
    signal.addEventListener("abort", finish);
    function finish() {
      clearTimeout(timer);
      connection.removeEventListener("change", finish);
      signal.removeEventListener("abort", finish);
      done();
    }
  });

/** issueText writes a problem as people read it: row, column and what is wrong. */
export const issueText = ({ row, column, issue }) =>
  `${row ? `Row ${row}${column ? `, ${column}` : ""}: ` : ""}${row ? issue : say(issue)}`;
