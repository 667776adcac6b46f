// Tasks that wait to be done here, and the lists that are started by hand.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { ago, count, time } from "../../shared/format.js";
import { acts } from "../acts.js";
import { now } from "../../shared/clock.js";
import { waits } from "./run.js";

/** onDemand gives the Task lists of a station that are started by hand. */
const onDemand = (station) =>
  (station.config?.taskLists ?? []).filter((list) =>
    list.tasks.some((task) => (list.trigger ?? task.trigger)?.type === "on_demand"),
  );

/** tasks shows them. */
export function tasks(t) {
  const { station, view, doing, mayAct } = t;
  if (!station.flag("enableTasks")) return html`<p class="empty">Tasks are switched off for this account.</p>`;
  const lists = new Map();
  for (const task of view.tasks)
    lists.set(task.taskListName ?? "", [...(lists.get(task.taskListName ?? "") ?? []), task]);
  const demand = onDemand(station),
    busy = (code) =>
      view.started.has(code) ||
      view.tasks.some((task) => task.taskListCode === code && task.trigger === "on_demand" && task.state === "pending");
  return html`
    ${station.tasks === null ? html`<p class="muted" role="status">Loading …</p>` : view.tasks.length === 0 ? html`<p class="empty">No Task waits here.</p>` : [...lists].map(([name, list]) => html`<h2 dir="auto">${name || "Of the SKU"}</h2><ul class="list">${list.map((task) => item(t, task))}</ul>`)}
    ${
      demand.length
        ? html`<h2>Start a list</h2><ul class="list">${demand.map(
            (list) => html`<li class="entry" data-list=${list.code}>
      <div class="entry-text"><h3 dir="auto">${list.name}</h3>${list.description ? html`<p dir="auto">${list.description}</p>` : nothing}<p class="muted">${count(list.tasks.length, "Task")}${view.started.has(list.code) ? html` ${waits}` : busy(list.code) ? " · goes on" : ""}</p></div>
      ${mayAct ? html`<button type="button" class="button large" data-do="start-list" ?disabled=${busy(list.code) || acts.rests(`list ${list.code}`)} @click=${() => doing.startList(list)}>Start</button>` : nothing}</li>`,
          )}</ul>`
        : nothing
    }`;
}

function item({ station, doing, mayAct }, task) {
  const done = task.state === "completed",
    soon = task.deadlineAt && Date.parse(task.deadlineAt) - now() < 15 * 60_000;
  return html`<li class=${done ? "entry done" : "entry"} data-task=${task.id}>
    <div class="entry-text"><h3 dir="auto">${task.title}</h3>${task.description ? html`<p dir="auto">${task.description}</p>` : nothing}
      <p class="muted">${done ? html`Done by ${task.completedBy} ${waits}` : html`${task.deadlineAt ? html`by ${time(task.deadlineAt, { zone: station.config.plant.timezone, date: false })} <span class=${soon ? "late" : ""}>${ago(task.deadlineAt)}</span>` : task.trigger === "schedule" ? "until the schedule ends" : "no deadline"}${task.requireNotes ? " · needs notes" : nothing}`}</p></div>
    ${
      mayAct && !done
        ? html`<div class="row">${task.requireNotes ? nothing : html`<button type="button" class="button large" data-do="note" aria-label=${`Done with notes: ${task.title}`} ?disabled=${acts.rests(`task ${task.id}`)} @click=${() => doing.complete({ ...task, askNote: true })}>Notes …</button>`}
      <button type="button" class="button large primary" data-do="complete" aria-label=${`Done: ${task.title}`} ?disabled=${acts.rests(`task ${task.id}`)} @click=${() => doing.complete(task)}>${task.requireNotes ? "Done …" : "Done"}</button></div>`
        : nothing
    }</li>`;
}
