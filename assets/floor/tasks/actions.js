// What can be done with Tasks: complete them, and start a list that waits for nobody's clock.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { once } from "../../shared/once.js";
import { ask, clean } from "../../shared/ask.js";
import { time } from "../../shared/format.js";
import { openDialog, running, sentence, toast } from "../../shared/dialog.js";
import { dropDraft, forms, keepDraft } from "../../shared/draft.js";
import { field } from "../../shared/form.js";
import { fit, rule } from "../../shared/initials.js";
import { actsAt } from "../../shared/roles.js";
import { text } from "../../shared/words.js";
import { stationOf } from "../stops/reasons.js";

const remembered = "opsmon.initials";

// The initials that were entered last on this device stay for the next Task.
const initials = () => {
  try {
    return sessionStorage.getItem(remembered);
  } catch {
    return null;
  }
};
const remember = (value) => {
  try {
    sessionStorage.setItem(remembered, value);
  } catch {
    /* a browser without storage */
  }
};

const initialsField = {
  name: "initials",
  label: text("floor.tasks.initials"),
  required: true,
  schema: {},
  hint: text("floor.tasks.initials.done", { rule: rule() }),
  refuse: (value) => (fit(value) ? "" : text("floor.tasks.initials.wrong", { rule: rule() })),
};

/**
 * complete asks who did a Task, and for notes, which some need; it gives the Task as it is then. entered is what was entered
 * before, when the page went away, as draft.js has kept it.
 */
export const complete = (task, names, profile, entered = null) =>
  ask({
    entered: () => Boolean(entered),
    changed: (values) => keepDraft(forms.task, profile, { task, values }),
    title: text("floor.tasks.complete.title", { title: task.title }),
    action: text("floor.tasks.complete"),
    values: entered ?? { initials: initials(), at: null },
    intro: html`<span dir="auto">${names.station(task.stationCode).name}</span>${task.taskListName ? html`, <span dir="auto">${task.taskListName}</span>` : nothing}${task.description ? html`<br><span class="muted" dir="auto">${task.description}</span>` : nothing}`,
    fields: () => [
      initialsField,
      {
        name: "note",
        label: text(task.requireNotes ? "floor.tasks.notes" : "floor.tasks.notes.optional"),
        kind: "lines",
        required: task.requireNotes,
        schema: {},
        hint: task.requireNotes ? text("floor.tasks.notes.required") : "",
      },
      {
        name: "at",
        label: text("floor.tasks.at"),
        kind: "moment",
        zone: names.plantOf(task.stationCode)?.timezone,
        schema: {},
        hint:
          task.state === "missed"
            ? text("floor.tasks.at.missed", {
                time: time(task.deadlineAt, { zone: names.plantOf(task.stationCode)?.timezone }),
              })
            : text("floor.tasks.at.hint"),
      },
    ],
    send: async (values) => {
      const { result } = await once("POST", `/task/${encodeURIComponent(task.id)}/complete`, clean(values));
      remember(values.initials);
      return result;
    },
  }).finally(() => dropDraft(forms.task, profile));

/** start asks which on-demand list is to be started where, and gives the Tasks that it made. entered is that of complete. */
export function start({ names, profile, stationCode, entered = null }) {
  const state = {
    stationCode: stationCode ?? null,
    list: null,
    initials: initials(),
    ...entered,
    station: null,
    problems: {},
    error: null,
    busy: false,
  };
  const changed = () =>
    keepDraft(forms.list, profile, { stationCode: state.stationCode, list: state.list, initials: state.initials });
  return openDialog((control) => {
    const look = async (code, list = null) => {
      Object.assign(state, { stationCode: code, station: null, list, error: null });
      control.update();
      if (!code) return;
      const station = await stationOf(code).catch((error) => {
        state.error = error;
        return null;
      });
      if (state.stationCode !== code) return;
      state.station = station;
      state.list = lists(station).length === 1 ? lists(station)[0].code : list;
      control.update();
    };
    if (state.stationCode && !state.asked) {
      state.asked = true;
      queueMicrotask(() => look(state.stationCode, state.list));
    }
    const off = state.station && state.station.flags.enableTasks?.value !== "on",
      on = lists(state.station);
    const send = async () => {
      document.activeElement?.blur?.();
      Object.assign(state, { busy: true, error: null, problems: {} });
      control.update();
      try {
        const { result } = await once("POST", `/task-list/${encodeURIComponent(state.list)}/start`, {
          stationCode: state.stationCode,
          initials: state.initials ?? "",
        });
        remember(state.initials);
        toast(text("floor.tasks.started"));
        control.close(result.tasks);
      } catch (error) {
        state.problems = Object.fromEntries((error.details ?? []).map((d) => [d.field, d.issue]));
        Object.assign(state, { busy: false, error: Object.keys(state.problems).length ? null : error });
        control.tell(error);
      }
    };
    return {
      title: text("floor.tasks.start.title"),
      body: html`${field({
        name: "stationCode",
        label: text("floor.tasks.station"),
        kind: "choice",
        schema: {},
        hint: "",
        id: "start-station",
        value: state.stationCode,
        placeholder: text("floor.tasks.station.choose"),
        problem: state.problems.stationCode,
        options: names
          .stations()
          .filter((s) => actsAt(profile, s.code))
          .map((s) => ({ value: s.code, label: s.name })),
        change: (code) => {
          look(code);
          changed();
        },
      })}
        ${off ? html`<p class="notice wait" role="alert">${text("floor.tasks.off", { from: state.station.flags.enableTasks?.from ?? "default" })}</p>` : nothing}
        ${
          state.station && !off
            ? on.length
              ? field({
                  name: "list",
                  label: text("floor.tasks.taskList"),
                  kind: "choice",
                  required: false,
                  schema: {},
                  hint: on.find((l) => l.code === state.list)?.description ?? "",
                  id: "start-list",
                  placeholder: text("floor.tasks.taskList.choose"),
                  value: state.list,
                  options: on.map((l) => ({ value: l.code, label: `${l.name} (${l.tasks.length})` })),
                  change: (list) => {
                    state.list = list;
                    changed();
                    control.update();
                  },
                })
              : html`<p class="empty">${text("floor.tasks.taskList.none")}</p>`
            : nothing
        }
        ${field({
          ...initialsField,
          hint: text("floor.tasks.initials.start", { rule: rule() }),
          id: "start-initials",
          value: state.initials,
          problem: state.problems.initials,
          change: (value) => {
            state.initials = value;
            changed();
            control.update();
          },
        })}
        ${state.error ? html`<p class="notice bad" role="alert">${sentence(state.error)}</p>` : nothing}`,
      actions: html`<button type="button" class="button" @click=${() => control.close()}>${state.busy ? running : text("floor.tasks.cancel")}</button>
        <button type="button" class="button primary" ?disabled=${state.busy || !state.list || off} @click=${send}>${text("floor.tasks.start.button")}</button>`,
    };
  }).finally(() => dropDraft(forms.list, profile));
}

const lists = (station) =>
  (station?.taskLists ?? []).filter((list) => (list.trigger ?? list.tasks[0]?.trigger)?.type === "on_demand");
