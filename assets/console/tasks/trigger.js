// When a Task or a Task list comes up: the editor of a trigger, with a timetable in words and in its next fires.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { get, query } from "../../shared/api.js";
import { now } from "../../shared/clock.js";
import { setIn } from "../../shared/document.js";
import { duration, hours, parseHours, time, weekDays } from "../../shared/format.js";
import { field, segmented } from "../../shared/form.js";
import { wordOf } from "../../shared/terms.js";
import { entityField } from "../entity.js";

/** triggerWords says in a few words when something comes up; zone is the first plant's where none is given. */
export function triggerWords(ctx, trigger, zone = ctx.workspace.doc.account.plants[0]?.timezone) {
  if (trigger?.type !== "cron") return trigger ? wordOf(trigger.type).toLowerCase() : "";
  return (zone && explain(ctx, trigger.pattern, zone)?.words) ?? trigger.pattern;
}

/** trigger edits the trigger of an object at a path. optional: it may have none, and none says what holds then. */
export function trigger({ ctx, all }, type, path, value, { optional, none = "" }) {
  const { workspace } = ctx,
    at = [...path, "trigger"];
  const choose = (next) =>
    workspace.edit((doc) =>
      setIn(
        doc,
        at,
        next === null
          ? undefined
          : next === "cron"
            ? {
                type: next,
                pattern: "0 6 * * 1-5",
                ...(value?.availableBeforeDeadlineMinutes && {
                  availableBeforeDeadlineMinutes: value.availableBeforeDeadlineMinutes,
                }),
              }
            : { type: next },
      ),
    );
  return html`
    ${segmented({
      name: `trigger-${path.at(-1)}`,
      label: "Comes up",
      value: value?.type ?? null,
      disabled: workspace.readOnly,
      change: choose,
      options: [
        ...(optional ? [{ value: null, label: "No trigger" }] : []),
        ...["schedule", "cron", "on_demand"].map((v) => ({ value: v, label: wordOf(v) })),
      ],
    })}
    <p class="muted">${{ schedule: "Pending when a production schedule starts, missed when it ends.", cron: "Its fire is the deadline.", on_demand: "An operator starts it; it is never missed." }[value?.type] ?? none}</p>
    ${workspace.problem(at) ? html`<p class="problem bad" role="alert">${workspace.problem(at)}</p>` : nothing}
    ${value?.type === "cron" ? timetable(ctx, all, at, value) : nothing}`;
}

function timetable(ctx, all, at, value) {
  const { workspace } = ctx,
    zones = [...new Set(workspace.doc.account.plants.map((p) => p.timezone))];
  const explained = zones.map((zone) => [zone, explain(ctx, value.pattern, zone)]);
  const gaps = explained.map(([, e]) => e?.smallestGapMinutes).filter((n) => n > 0),
    gap = gaps.length ? Math.min(...gaps) : null;
  return html`
    ${simple(ctx, at, value)}
    ${entityField(ctx, all, "CronTrigger", at, "pattern", { hint: "Minute, hour, day of month, month, day of week; in the time zone of each station's plant." })}
    ${field({
      name: "availableBeforeDeadlineMinutes",
      id: `trigger-${at[1]}-available`,
      kind: "duration",
      label: "Can be done from",
      schema: {},
      disabled: workspace.readOnly,
      value: value.availableBeforeDeadlineMinutes ? value.availableBeforeDeadlineMinutes * 60000 : null,
      hint: `before its deadline, such as 2 h or 45 min${gap ? `; less than ${duration(gap * 60000)}, the smallest time between two fires` : ""}. A Task's own trigger needs it; a list without it is open from the fire before.`,
      problem: workspace.problem([...at, "availableBeforeDeadlineMinutes"]),
      change: (ms) =>
        workspace.edit((doc) =>
          setIn(
            doc,
            [...at, "availableBeforeDeadlineMinutes"],
            ms === null ? undefined : Math.max(1, Math.round(ms / 60000)),
          ),
        ),
    })}
    <div class="fires" aria-live="polite">${explained.map(
      ([zone, e]) => html`<div><h3>${zone}</h3>
      ${
        !e
          ? html`<p class="muted">…</p>`
          : e.issue
            ? html`<p class="bad">${e.issue}</p>`
            : html`<p><strong>${e.words.charAt(0).toUpperCase() + e.words.slice(1)}.</strong></p>
        <ol class="plain-list small">${e.fires.map((fire) => html`<li><time datetime=${fire}>${weekday(fire, zone)} ${time(fire, { zone })}</time></li>`)}</ol>`
      }</div>`,
    )}</div>`;
}

const weekday = (at, zone) =>
  new Intl.DateTimeFormat("en-GB", { weekday: "short", timeZone: zone }).format(new Date(at));

// What the service said of a pattern in a zone {said, until: when it is asked again}: the next fires are by its code and not by
// another reading of cron. It is asked again after the first fire, and where it gave no answer after a rest, in milliseconds;
// never sooner, since what is known of the service's clock may be ahead.
const rest = 30000;
const known = new Map();
const key = (pattern, zone) => `${zone} ${pattern}`;

function explain(ctx, pattern, timezone) {
  const at = key(pattern, timezone),
    before = known.get(at);
  if (!before || before.until <= now()) {
    const keep = (said, until) => known.set(at, { said, until: Math.max(until, now() + rest) });
    known.set(at, { said: before?.said ?? null, until: Infinity });
    get(`/cron${query({ pattern, timezone })}`)
      .then(
        ({ result }) => keep(result, result.fires.length ? Date.parse(result.fires[0]) : Infinity),
        (error) => keep({ issue: error.details?.[0]?.issue ?? error.message }, error.status === 400 ? Infinity : 0),
      )
      .finally(ctx.update);
  }
  return known.get(at).said;
}

// Most timetables are times on days of the week: they are chosen, and written as a pattern.
function simple(ctx, at, value) {
  const read = readSimple(value.pattern),
    { workspace } = ctx;
  const write = (next) => workspace.edit((doc) => setIn(doc, [...at, "pattern"], writeSimple(next)));
  if (!read)
    return html`<p class="muted small">This timetable is more than times on days of the week; change its pattern below. <button type="button" class="link" ?disabled=${workspace.readOnly} @click=${() => write({ times: [6], days: [1, 2, 3, 4, 5] })}>Choose times and days instead</button></p>`;
  return html`<fieldset class="days"><legend>Days</legend>${weekDays.map(
    (
      name,
      i,
    ) => html`<label class="check"><input type="checkbox" .checked=${read.days.includes(i + 1)} ?disabled=${workspace.readOnly}
      @change=${(e) => {
        const days = e.target.checked ? [...read.days, i + 1].sort() : read.days.filter((d) => d !== i + 1);
        if (days.length) write({ ...read, days });
        else e.target.checked = true;
      }}><span>${name.slice(0, 3)}<span class="visually-hidden">${name.slice(3)}</span></span></label>`,
  )}</fieldset>
    ${field({
      name: "times",
      id: `trigger-${at[1]}-times`,
      kind: "text",
      label: "Times of day",
      schema: {},
      hint: "With commas between them, such as 06:00, 14:00. Several times share their minutes.",
      disabled: workspace.readOnly,
      value: read.times.map(hours).join(", "),
      problem: "",
      required: true,
      refuse: (text) => readTimes(text).wrong,
      change: (text) => write({ ...read, times: readTimes(text).times }),
    })}`;
}

/** readTimes reads times of day with commas between them: {times (decimal hours), wrong: why they are none of a timetable, or ""}. */
export function readTimes(text) {
  const words = (text ?? "")
      .split(",")
      .map((word) => word.trim())
      .filter(Boolean),
    minutes = words.map((word) => Math.round(parseHours(word) * 60));
  const none = minutes.findIndex((m) => !(m >= 0 && m < 1440)),
    other = minutes.findIndex((m) => m % 60 !== minutes[0] % 60);
  const wrong =
    words.length === 0
      ? "Enter a time of day, such as 06:00"
      : none >= 0
        ? `${words[none]} is no time of day; write it as 14:00`
        : other >= 0
          ? `${words[other]} and ${words[0]} are not at the same minute of the hour; give one of them a Task or Task list of its own`
          : "";
  return { times: minutes.map((m) => m / 60), wrong };
}

/** readSimple gives {times (decimal hours), days (1 is Monday)} of a pattern that is no more than that; null for another. */
export function readSimple(pattern) {
  const match = /^\s*(\d{1,2})\s+([\d,]+)\s+\*\s+\*\s+(\*|[0-7](?:-[0-7])?(?:,[0-7](?:-[0-7])?)*)\s*$/.exec(
    pattern ?? "",
  );
  if (!match) return null;
  const days =
    match[3] === "*"
      ? [1, 2, 3, 4, 5, 6, 7]
      : match[3].split(",").flatMap((part) => {
          const [from, to = from] = part.split("-").map(Number);
          return Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => (from + i) % 7 || 7);
        });
  return {
    times: match[2]
      .split(",")
      .filter(Boolean)
      .map((h) => Number(h) + Number(match[1]) / 60),
    days: [...new Set(days)].sort(),
  };
}

function writeSimple({ times, days }) {
  const at = times.map((h) => Math.round(h * 60)),
    minutes = at[0] % 60,
    hour = [...new Set(at.map((m) => Math.floor(m / 60)))].sort((a, b) => a - b);
  const runs =
    days.length === 7
      ? "*"
      : days.every((d, i) => i === 0 || d === days[i - 1] + 1) && days.length > 2
        ? `${days[0]}-${days.at(-1)}`
        : days.join(",");
  return `${minutes} ${hour.join(",")} * * ${runs}`;
}
