// Shift patterns: weeks of shifts, drawn and changed by dragging, with the exact times below.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { brief } from "../../shared/brief.js";
import { confirm } from "../../shared/dialog.js";
import { getIn, insertIn, setIn, updateIn } from "../../shared/document.js";
import { compare, count, hours, number, weekDays } from "../../shared/format.js";
import { field } from "../../shared/form.js";
import { propertyOf, schemas } from "../../shared/schema.js";
import { codeField, entityFields, freeCode, withoutCodes } from "../entity.js";
import { week } from "../week.js";

const list = ["account", "shiftPatterns"];

export async function open(ctx) {
  const all = await schemas(),
    state = { path: ctx.path, chosen: null };
  const render = () => {
    const patterns = getIn(ctx.workspace.doc, list) ?? [],
      code = state.path[0];
    const at = patterns.findIndex((p) => p.code === code);
    if (code === undefined) return listing(ctx, patterns);
    return at < 0
      ? html`<div class="page-head"><h1 dir="auto">${code}</h1></div><p class="empty">There is no shift pattern of this code. <a href="/console/shifts">All shift patterns</a></p>`
      : one(ctx, all, state, patterns[at], at);
  };
  return {
    get title() {
      return state.path[0] ?? "Shift patterns";
    },
    render,
    changed: (now) => {
      state.path = now.path;
      state.chosen = null;
    },
  };
}

const perWeek = (pattern) => `${number(pattern.shifts.reduce((sum, s) => sum + s.duration, 0))} h`;

/** usedBy lists the groups and stations that follow a pattern. */
function usedBy(doc, code) {
  return doc.account.plants.flatMap((plant) =>
    plant.stationGroups.flatMap((group) => [
      ...(group.shiftPatternCode === code
        ? [
            {
              label: `${group.name} (${plant.name})`,
              href: `/console/plants/${encodeURIComponent(plant.code)}/${encodeURIComponent(group.code)}`,
            },
          ]
        : []),
      ...group.stations
        .filter((s) => s.shiftPatternCode === code)
        .map((s) => ({
          label: s.code,
          href: `/console/plants/${[plant, group, s].map((e) => encodeURIComponent(e.code)).join("/")}`,
        })),
    ]),
  );
}

const listing = (ctx, patterns) => html`
  <div class="page-head"><h1>Shift patterns</h1>${ctx.workspace.readOnly ? nothing : html`<button type="button" class="button primary" @click=${() => add(ctx, patterns)}>Add a shift pattern</button>`}
    <p>A group or a station that follows none is always in shift.</p></div>
  ${patterns.length === 0 ? html`<p class="empty">No shift pattern is defined yet.</p>` : nothing}
  <div class="patterns">${patterns.map(
    (
      p,
    ) => html`<section class="card stack"><div class="spread"><h2><a href=${`/console/shifts/${encodeURIComponent(p.code)}`}>${brief(p.title || p.code)}</a></h2><code class="muted">${p.code}</code></div>
    ${week({ shifts: p.shifts, open: () => ctx.navigate(`/console/shifts/${encodeURIComponent(p.code)}`) })}
    <p class="muted">${count(p.shifts.length, "shift")}, ${perWeek(p)} a week. Followed by ${count(usedBy(ctx.workspace.doc, p.code).length, "group or station", "groups and stations")}.</p></section>`,
  )}</div>`;

function add(ctx, patterns, like) {
  const code = freeCode(patterns, like?.code ?? "pattern"),
    titles = patterns.map((p) => ({ code: p.title }));
  const shifts =
    like?.shifts ?? [1, 2, 3, 4, 5].map((day) => ({ name: "Day", startHour: 8, duration: 8, weekDay: String(day) }));
  ctx.workspace.edit((doc) =>
    insertIn(doc, list, { code, title: freeCode(titles, like?.title ?? "New pattern"), shifts }),
  );
  ctx.navigate(`/console/shifts/${encodeURIComponent(code)}`);
}

function one(ctx, all, state, pattern, at) {
  const { workspace } = ctx,
    path = [...list, at],
    users = usedBy(workspace.doc, pattern.code);
  const edit = (change) => workspace.edit((doc) => updateIn(doc, [...path, "shifts"], change));
  const rename = (code) => {
    workspace.edit((doc) => follow(setIn(doc, [...path, "code"], code), pattern.code, code));
    ctx.navigate(`/console/shifts/${encodeURIComponent(code)}`, { replace: true });
  };
  const remove = async () => {
    const text = users.length
      ? `${count(users.length, "group or station follows", "groups and stations follow")} it; they would refer to a pattern that is not there, so give them another one before you apply.`
      : "Nothing follows it.";
    if (!(await confirm({ title: `Remove ${pattern.title}?`, text, action: "Remove", danger: true }))) return;
    workspace.edit((doc) => withoutCodes(doc, list, [pattern.code]));
    ctx.navigate("/console/shifts");
  };
  return html`
    <div class="page-head"><div><a href="/console/shifts">Shift patterns</a><h1>${brief(pattern.title || pattern.code)}</h1></div>
      ${workspace.readOnly ? nothing : html`<div class="row"><button type="button" class="button" @click=${() => add(ctx, workspace.doc.account.shiftPatterns, pattern)}>Duplicate</button><button type="button" class="button" @click=${remove}>Remove</button></div>`}</div>
    <section class="card stack">${entityFields(ctx, all, "ShiftPattern", path, [codeField(pattern.code, workspace.doc.account.shiftPatterns, rename), "title"])}</section>
    <section class="card stack"><div class="spread"><h2>The week</h2><span class="muted">${perWeek(pattern)} a week</span></div>
      ${week({
        shifts: pattern.shifts,
        chosen: state.chosen,
        open: (i) => {
          state.chosen = i;
          ctx.update();
          queueMicrotask(() => document.getElementById(`shift-${i}`)?.scrollIntoView({ block: "nearest" }));
        },
        ...(!workspace.readOnly && {
          change: (i, shift) => edit((shifts) => shifts.with(i, shift)),
          add: (shift) => edit((shifts) => [...shifts, shift]),
        }),
      })}
      ${
        workspace.readOnly
          ? nothing
          : html`<p class="muted small no-print">Drag a shift to another time or day, its end to make it longer or shorter; a double click adds one. With the keyboard: arrows move, Shift with arrows changes the length.</p>
        <div class="row"><button type="button" class="button" @click=${() => edit(copyMonday)}>Monday's shifts on Tuesday to Friday</button></div>`
      }</section>
    <section class="card stack"><h2>Times</h2>${times(ctx, all, state, pattern, path, edit)}</section>
    <section class="card stack"><h2>Followed by</h2>${users.length ? html`<p class="row">${users.map((u) => html`<a class="chip plain" href=${u.href}>${brief(u.label)}</a>`)}</p>` : html`<p class="muted">No group or station follows it.</p>`}</section>`;
}

// What refers to a pattern keeps referring to it under its new code.
function follow(doc, from, to) {
  const moved = (e) => (e.shiftPatternCode === from ? { ...e, shiftPatternCode: to } : e);
  return updateIn(doc, ["account", "plants"], (plants) =>
    plants.map((plant) => ({
      ...plant,
      stationGroups: plant.stationGroups.map((group) => ({ ...moved(group), stations: group.stations.map(moved) })),
    })),
  );
}

const copyMonday = (shifts) => [
  ...shifts.filter((s) => !["2", "3", "4", "5"].includes(s.weekDay)),
  ...["2", "3", "4", "5"].flatMap((weekDay) => shifts.filter((s) => s.weekDay === "1").map((s) => ({ ...s, weekDay }))),
];

function times(ctx, all, state, pattern, path, edit) {
  const { workspace } = ctx,
    order = pattern.shifts
      .map((s, i) => [s, i])
      .toSorted(([a], [b]) => compare(a.weekDay, b.weekDay) || a.startHour - b.startHour);
  const cell = (i, name, more) =>
    field({
      name,
      id: `shift-${i}-${name}`,
      schema: propertyOf(all, "Shift", name),
      value: pattern.shifts[i][name],
      hint: "",
      required: true,
      disabled: workspace.readOnly,
      problem: workspace.problem([...path, "shifts", i, name]),
      change: (value) => {
        if (value !== null) edit((shifts) => shifts.with(i, { ...shifts[i], [name]: value }));
      },
      ...more,
    });
  return html`<p class="bad small" role="alert">${workspace.problem([...path, "shifts"])}</p>
    <ol class="times">${order.map(
      ([s, i]) => html`<li id=${`shift-${i}`} class=${state.chosen === i ? "chosen" : ""}>
      ${cell(i, "weekDay", { options: weekDays.map((label, day) => ({ value: String(day + 1), label })) })}
      ${cell(i, "name")}${cell(i, "startHour")}${cell(i, "duration")}
      <span class="muted until">until ${hours((s.startHour + s.duration) % 24)}${s.startHour + s.duration > 24 ? " the next day" : ""}</span>
      ${workspace.readOnly || pattern.shifts.length === 1 ? nothing : html`<button type="button" class="icon-button" aria-label=${`Remove ${s.name} on ${weekDays[Number(s.weekDay) - 1]}`} @click=${() => edit((shifts) => shifts.toSpliced(i, 1))}>✕</button>`}
    </li>`,
    )}</ol>`;
}
