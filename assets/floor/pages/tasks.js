// Tasks: what is due, what was missed and what is done, by station and list.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { get } from "../../shared/api.js";
import { now } from "../../shared/clock.js";
import { turning } from "../../shared/days.js";
import { sentence } from "../../shared/dialog.js";
import { directory } from "../../shared/directory.js";
import { draftOf, dropDraft, forms } from "../../shared/draft.js";
import { Followed } from "../../shared/followed.js";
import { segmented } from "../../shared/form.js";
import { matches, time } from "../../shared/format.js";
import { live } from "../../shared/live.js";
import { visible } from "../../shared/rows.js";
import { addressOf, asked, readScope, scopeBar, spanText } from "../../shared/scope.js";
import { style } from "../../shared/styles.js";
import { spell, ticking } from "../../shared/ticks.js";
import { text } from "../../shared/words.js";
import { complete, start } from "../tasks/actions.js";

const height = 64; // px of a row
const soon = 15 * 60000; // ms before a deadline from which on a Task is urgent
const states = { due: "pending", missed: "missed", done: "completed" };

export async function open(ctx) {
  const [names, end] = await Promise.all([directory(), live.follow(), style(new URL("../tasks.css", import.meta.url))]);
  const page = new Page(ctx, names);
  const leave = page.begin();
  return {
    title: text("floor.tasks.title"),
    render: () => page.render(),
    changed: (next) => page.readAddress(next),
    leave: () => {
      leave();
      end();
    },
  };
}

class Page {
  constructor(ctx, names) {
    Object.assign(this, { ctx, names });
    this.tasks = new Followed("/task", () => this.update());
  }

  begin() {
    const heard = (event) => this.tasks.heard(event.detail),
      anew = () => this.tasks.query && this.tasks.read();
    live.addEventListener("task", heard);
    live.addEventListener("reset", anew);
    const end = turning(this.names.plants, now, anew); // the list is of other days then
    this.readAddress(this.ctx);
    this.goOn();
    return () => {
      this.left = true;
      end();
      clearTimeout(this.typing);
      live.removeEventListener("task", heard);
      live.removeEventListener("reset", anew);
      this.tasks.stop();
    };
  }

  // goOn opens a form again with what was entered when the page went away, unless it stands there still.
  async goOn() {
    const { profile } = this.ctx,
      task = draftOf(forms.task, profile),
      list = draftOf(forms.list, profile);
    if (!this.ctx.acts() || !(task || list)) return;
    const now = task && (await stateOf(task.task));
    if (this.left || document.querySelector("dialog[open]")) return;
    if (now === "pending" || now === "missed") this.complete(task.task, task.values);
    else if (task) dropDraft(forms.task, profile);
    else this.start({ entered: list });
  }

  async complete(task, entered) {
    const done = await complete(task, this.names, this.ctx.profile, entered);
    if (done?.id) this.tasks.take([done]);
  }

  async start(from) {
    const made = await start({ names: this.names, profile: this.ctx.profile, ...from });
    if (made?.length) {
      this.tasks.heard(made[0]);
      this.go({ state: "" });
    }
  }

  readAddress({ query: q }) {
    const before = this.asks;
    this.scope = readScope(q);
    this.state = states[q.get("state")] ? q.get("state") : "due";
    this.filter = { list: q.get("list") ?? "", search: q.get("search") ?? "" };
    const { rangecode, ...where } = asked(this.scope);
    const query = { ...where, state: states[this.state], ...(this.state === "due" ? {} : { rangecode }) };
    this.asks = JSON.stringify(query);
    if (this.asks !== before) this.tasks.read(query);
    else this.update();
  }

  update() {
    const { list, search } = this.filter;
    this.found = this.tasks.all.filter(
      (t) =>
        t.state === states[this.state] &&
        (!list || t.taskListCode === list) &&
        (!search ||
          matches(
            search,
            t.title,
            t.taskCode,
            t.taskListName ?? "",
            t.description ?? "",
            t.note ?? "",
            t.completedBy ?? "",
            this.names.station(t.stationCode).name,
            t.stationCode,
          )),
    );
    this.rows = rowsOf(this.found, this.state, this.names);
    this.ctx.update();
  }

  go(changed) {
    const { scope = this.scope, ...rest } = changed;
    this.ctx.navigate(addressOf(scope, { state: this.state === "due" ? "" : this.state, ...this.filter, ...rest }), {
      replace: true,
    });
  }

  render() {
    const lists = new Map(this.tasks.all.filter((t) => t.taskListCode).map((t) => [t.taskListCode, t.taskListName]));
    if (this.filter.list && !lists.has(this.filter.list)) lists.set(this.filter.list, this.filter.list);
    const one = this.scope.stations.length === 1 ? this.scope.stations[0] : undefined;
    return html`<div class="page-head"><h1>${text("floor.tasks.title")}</h1>${this.ctx.acts() ? html`<button type="button" class="button" @click=${() => this.start({ stationCode: one })}>${text("floor.tasks.start")}</button>` : nothing}</div>
      ${segmented({
        name: "state",
        label: text("floor.tasks.which"),
        value: this.state,
        options: [
          ["due", text("floor.tasks.due")],
          ["missed", text("floor.tasks.missed")],
          ["done", text("floor.tasks.done")],
        ].map(([value, label]) => ({ value, label })),
        change: (state) => this.go({ state: state === "due" ? "" : state }),
      })}
      ${scopeBar({
        scope: this.scope,
        directory: this.names,
        parts: this.state === "due" ? ["plant", "group", "stations"] : undefined,
        change: (scope) => this.go({ scope }),
        more: html`
        <label class="scope-part"><span>${text("floor.tasks.list")}</span><select @change=${(e) => this.go({ list: ["", ...lists.keys()][e.target.selectedIndex] })}><option .selected=${!this.filter.list}>${text("floor.tasks.list.all")}</option>${[...lists].map(([code, name]) => html`<option .selected=${code === this.filter.list}>${name}</option>`)}</select></label>
        <label class="scope-part"><span>${text("floor.tasks.search")}</span><input type="search" .value=${this.filter.search} @input=${(
          e,
        ) => {
          clearTimeout(this.typing);
          this.typing = setTimeout(() => this.go({ search: e.target.value }), 250);
        }}></label>`,
      })}
      ${this.state === "due" ? nothing : html`<p class="muted span">${spanText(this.scope, this.names, now())}</p>`}
      ${this.tasks.error ? html`<p class="notice bad" role="alert"><strong>${text("floor.tasks.failed")}</strong> ${(this.tasks.error.details ?? []).map((d) => sentence(`${d.field === "rangecode" ? text("floor.tasks.failed.time", { issue: d.issue }) : `${d.field} ${d.issue}`}`)).join(" ") || sentence(this.tasks.error)} <button type="button" class="button small" @click=${() => this.tasks.read()}>${text("floor.tasks.again")}</button></p>` : nothing}
      ${this.summary()}${this.list()}`;
  }

  summary() {
    const left = this.tasks.total - this.tasks.all.length,
      urgent = (at) => this.found.filter((t) => t.deadlineAt && Date.parse(t.deadlineAt) - at < soon).length;
    return html`<div class="spread"><p role="status">${this.tasks.loading && !this.tasks.all.length ? text("floor.tasks.loading") : html`<strong>${text(`floor.tasks.count.${this.state}`, { n: this.found.length })}</strong>${this.state === "due" && urgent(now()) ? html`, <strong class="urgent">${text("floor.tasks.urgent", { n: urgent(now()), time: spell(soon) })}</strong>` : nothing}`}</p>
      ${!this.tasks.loading && left > 0 ? html`<span class="row"><span class="muted">${text("floor.tasks.earlier", { n: left })}</span><button type="button" class="button small" @click=${() => this.tasks.more()}>${text("floor.tasks.more")}</button></span>` : nothing}</div>`;
  }

  list() {
    const rows = this.rows;
    if (!rows.length && this.tasks.error) return nothing;
    if (!rows.length)
      return this.tasks.loading
        ? html`<p class="muted loading">${text("floor.tasks.loading")}</p>`
        : html`<p class="empty">${text(`floor.tasks.none.${this.state}`)}${this.tasks.all.length ? ` ${text("floor.tasks.none.filtered")}` : ""}</p>`;
    return html`<div class="tasks"><div class="rows tasks-rows" role="list" aria-label=${text("floor.tasks.title")}>${visible({ count: rows.length, height, key: (i) => rows[i].id, row: (i) => (rows[i].head ? this.head(rows[i]) : this.row(rows[i].task)) })}</div></div>`;
  }

  head({ task, tasks }) {
    return html`<div class="task-head" role="listitem"><h2><a href=${`/floor/station/${encodeURIComponent(task.stationCode)}`} dir="auto">${this.names.station(task.stationCode).name}</a></h2>
      <span class="muted" dir="auto">${task.taskListName ?? text("floor.tasks.ofSku")} · ${tasks}</span></div>`;
  }

  row(task) {
    const zone = this.names.plantOf(task.stationCode)?.timezone,
      at = (moment) => time(moment, { zone }).replace(/ \d{4},/, ",");
    const can =
      this.ctx.acts(task.stationCode) &&
      (task.state === "pending" || (task.state === "missed" && now() - Date.parse(task.availableAt) < 24 * 3600000));
    return html`<div class="task-row" role="listitem" data-task=${task.id}>
      <span class="task-what"><span dir="auto" title=${task.title}>${task.title}</span><small class="muted" dir="auto" title=${task.description ?? ""}>${task.note ? `“${task.note}”` : (task.description ?? task.taskCode)}</small></span>
      <span class="task-when">${
        task.state === "completed"
          ? html`<span class="mark ok">✓ <span dir="auto">${task.completedBy}</span></span><small class="muted">${at(task.completedAt)}</small>`
          : task.state === "missed"
            ? html`<span class="mark bad">${text("floor.tasks.missed.mark")}</span><small class="muted">${at(task.deadlineAt)}</small>`
            : task.deadlineAt
              ? html`<span>${ticking((t) => due(task, t))}</span><small class="muted">${text("floor.tasks.until", { time: at(task.deadlineAt) })}</small>`
              : html`<span>${text(task.trigger === "schedule" ? "floor.tasks.untilScheduleEnds" : "floor.tasks.noDeadline")}</span><small class="muted">${text("floor.tasks.since", { time: at(task.availableAt) })}</small>`
      }</span>
      <span class="task-do">${can ? html`<button type="button" class="button small" aria-label=${text("floor.tasks.complete.label", { title: task.title })} @click=${() => this.complete(task)}>${text(task.state === "missed" ? "floor.tasks.wasDone" : "floor.tasks.complete")}</button>` : nothing}${task.requireNotes && task.state === "pending" ? html`<small class="muted">${text("floor.tasks.needsNotes")}</small>` : nothing}</span></div>`;
  }
}

// stateOf asks what became of a Task that was not completed when it was seen last. Where nobody answers it is as it was.
async function stateOf({ id, stationCode, availableAt, state }) {
  const to = new Date(Date.parse(availableAt) + 1000).toISOString();
  return get(`/task?${new URLSearchParams({ stationcode: stationCode, from: availableAt, to, limit: 1000 })}`).then(
    ({ results }) => results.find((t) => t.id === id)?.state ?? "gone",
    () => state,
  );
}

function due(task, at) {
  const ms = Date.parse(task.deadlineAt) - at;
  return html`<span class=${ms < soon ? "mark urgent" : "mark"}>${ms < soon ? "! " : ""}${ms > 0 ? text("floor.tasks.left", { time: spell(ms) }) : text("floor.tasks.over")}</span>`;
}

// rowsOf puts a heading above the Tasks of each station and list. What is due stands in the order of its deadlines, of which the
// first one of a list is the list's; the rest by when it was, the newest first.
function rowsOf(tasks, state, names) {
  const groups = new Map();
  for (const task of tasks) {
    const key = JSON.stringify([
      task.stationCode,
      task.taskListCode ?? "",
      state === "due" ? (task.deadlineAt ?? task.scheduleId ?? "") : task.availableAt.slice(0, 16),
    ]);
    groups.set(key, [...(groups.get(key) ?? []), task]);
  }
  const when = (list) =>
    state === "due"
      ? Math.min(...list.map((t) => (t.deadlineAt ? Date.parse(t.deadlineAt) : Infinity)))
      : -Math.max(...list.map((t) => Date.parse(t.completedAt ?? t.deadlineAt ?? t.availableAt)));
  const name = (list) => names.station(list[0].stationCode).name;
  const sorted = [...groups]
    .map(([key, list]) => ({ key, list, when: when(list) }))
    .sort((a, b) => (a.when === b.when ? 0 : a.when - b.when) || (name(a.list) < name(b.list) ? -1 : 1));
  return sorted.flatMap(({ key, list }) => [
    { id: key, head: true, task: list[0], tasks: text("floor.tasks.count", { n: list.length }) },
    ...list.toSorted((a, b) => (a.order ?? 0) - (b.order ?? 0)).map((task) => ({ id: task.id, task })),
  ]);
}
