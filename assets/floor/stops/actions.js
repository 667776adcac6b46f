// What can be done with stops: each is asked for in a dialog, sent, and what the service refuses is told there.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { ask, clean } from "../../shared/ask.js";
import { now } from "../../shared/clock.js";
import { openDialog, running, sentence, toast } from "../../shared/dialog.js";
import { field } from "../../shared/form.js";
import { count, time } from "../../shared/format.js";
import { once } from "../../shared/once.js";
import { rule } from "../../shared/initials.js";
import { spell } from "../../shared/ticks.js";
import { chooser, recent, trees } from "./reasons.js";

const words = { type: "string", maxLength: 1000 };

/** initials and note are fields of everything that is said. */
export const initials = {
  name: "initials",
  label: "Initials",
  schema: {},
  hint: `${rule()}. May stay empty: your e-mail address is kept.`,
};
export const note = (label = "Note", more = {}) => ({
  name: "note",
  label,
  kind: "lines",
  schema: words,
  hint: "",
  ...more,
});

/** typed is for dialogs in which nothing but what was typed is missed when it is gone. */
export const typed = () => false;

const send = async (stop, verb, body) =>
  (await once("POST", `/issue/${encodeURIComponent(stop.id)}/${verb}`, clean(body))).result;

/** nouns are what the types of stops are called. */
export const nouns = { stop: "Stop", slow: "Slow period", manual: "Manual downtime" };

/** whatOf names a stop in a few words: "Slow period at Kiln 2, 14:03". */
export const whatOf = (stop, names) =>
  `${nouns[stop.type]} at ${names.station(stop.stationCode).name}, ${time(stop.startAt, { zone: names.plantOf(stop.stationCode)?.timezone, date: false })}`;

/**
 * giveCause asks for the cause of stops, or of a part of one (partStartAt), and gives those that have it. Where one is
 * refused it is told, with the sentence, and the others have theirs. all: what else the page shows, for what was given of late.
 */
export async function giveCause({ stops, all, names, partStartAt, now: was }) {
  const codes = [...new Set(stops.map((s) => s.stationCode))];
  const giver = new Giver({
    stops,
    names,
    partStartAt,
    codes,
    reasons: await trees(codes),
    last: recent(all, codes),
    state: { reason: was ?? null, search: "" },
  });
  return openDialog(
    (control) => {
      giver.control = control;
      return giver.content();
    },
    { wide: true, entered: typed, busy: () => giver.busy },
  );
}

class Giver {
  initials = null;
  note = null;
  refused = [];
  done = [];
  busy = false;
  back = false; // what was sent last takes the cause back

  constructor(given) {
    Object.assign(this, given);
  }

  async give(causeCode) {
    document.activeElement?.blur?.();
    Object.assign(this, { busy: true, refused: [] });
    this.control.update();
    const left = this.stops.filter((stop) => !this.done.some((done) => done.id === stop.id));
    const body = { ...clean({ initials: this.initials, note: this.note, partStartAt: this.partStartAt }), causeCode };
    for (const stop of left) {
      try {
        this.done.push((await once("POST", `/issue/${encodeURIComponent(stop.id)}/cause`, body)).result);
      } catch (error) {
        this.refused.push({ stop, error });
        if (error.away) break; // nor are the others taken now
      }
      if (left.length > 1) this.control.update();
    }
    Object.assign(this, { busy: false, back: causeCode === null });
    if (this.refused.length) return this.control.tell(this.refused.map((r) => this.told(r)).join(" "));
    toast(
      causeCode === null
        ? "The cause is taken back."
        : `${count(this.done.length, "stop has its cause", "stops have their cause")}.`,
    );
    return this.control.close(this.done);
  }

  told({ stop, error }) {
    const open =
      error.status === 0
        ? `it is not known whether ${this.back ? "its cause is taken back" : "it has its cause"}. `
        : "";
    return `${whatOf(stop, this.names)}: ${open}${told(error)}`;
  }

  // outcome tells what became of each: one whose answer was lost may have its cause, and after it none was tried.
  outcome() {
    const { stops, refused, done } = this,
      lost = refused.some((r) => r.error.status === 0),
      left = stops.length - done.length - refused.length;
    const same = refused.filter((r) => r.error.status > 0).length;
    return html`<div class="notice bad" role="alert">${lost && stops.length > 1 ? html`<strong>${done.length} of ${stops.length} stops have their cause${this.back ? " taken back" : ""}.</strong>` : nothing}
      ${same ? html`<strong>${count(same, "stop is", "stops are")} as before.</strong>` : nothing}
      <ul>${refused.map((r) => html`<li>${this.told(r)}</li>`)}</ul>${left > 0 ? html`<p>${count(left, "other was", "others were")} not tried.</p>` : nothing}</div>`;
  }

  content() {
    const { stops, codes, state, refused, done, busy, control } = this;
    const what = this.partStartAt
      ? "this part"
      : stops.length === 1
        ? whatOf(stops[0], this.names)
        : count(stops.length, "stop");
    return {
      title: `Cause: ${what}`,
      body: html`${codes.length > 1 ? html`<p class="muted">Reasons that all ${codes.length} stations have.</p>` : nothing}
        ${chooser({ reasons: this.reasons, last: this.last, state, changed: control.update })}
        <div class="fields">${[initials, note()].map((f) =>
          field({
            ...f,
            id: `cause-${f.name}`,
            value: this[f.name],
            change: (value) => {
              this[f.name] = value;
            },
          }),
        )}</div>
        ${refused.length && !busy ? this.outcome() : nothing}`,
      actions: html`<button type="button" class="button" @click=${() => control.close(done.length ? done : undefined)}>${busy ? running : done.length ? "Close" : "Cancel"}</button>
        ${stops.some((s) => s.parts.some((p) => p.causeFrom === "person")) ? html`<button type="button" class="button" ?disabled=${busy} @click=${() => this.give(null)}>Take the cause back</button>` : nothing}
        <button type="button" class="button primary" ?disabled=${busy || !state.reason} @click=${() => this.give(state.reason)}>${busy ? `Sending … ${stops.length > 1 ? `${done.length} of ${stops.length}` : ""}` : "Give the cause"}</button>`,
    };
  }
}

// told writes an error with what it says of fields.
const told = (error) =>
  error.details?.length ? error.details.map((d) => sentence(`${d.field} ${d.issue}`)).join(" ") : sentence(error);

/** acknowledge says that somebody has seen a stop. */
export const acknowledge = (stop, names) =>
  ask({
    entered: typed,
    title: `Acknowledge: ${whatOf(stop, names)}`,
    action: "Acknowledge",
    fields: () => [initials, note()],
    send: (values) => send(stop, "acknowledge", values),
  });

/** estimate says when a stop is expected to end; what was said can be taken back. */
export const estimate = (stop, names) =>
  ask({
    entered: typed,
    title: `Expected end: ${whatOf(stop, names)}`,
    action: "Save",
    values: {
      expectedEndAt:
        stop.estimate?.expectedEndAt ?? new Date(Math.ceil((now() + 900000) / 300000) * 300000).toISOString(),
    },
    fields: () => [
      {
        name: "expectedEndAt",
        label: "It is expected to end",
        kind: "moment",
        zone: names.plantOf(stop.stationCode)?.timezone,
        schema: {},
        hint: stop.estimate ? "By the plant's clock. Empty takes the estimate back." : "By the plant's clock.",
      },
      initials,
      note(),
    ],
    send: ({ expectedEndAt, ...rest }) =>
      once("POST", `/issue/${encodeURIComponent(stop.id)}/estimate`, {
        ...clean(rest),
        expectedEndAt: expectedEndAt ?? null,
      }).then(({ result }) => result),
  });

/** escalate takes a stop further up. */
export const escalate = (stop, names) =>
  ask({
    entered: typed,
    title: `Escalate: ${whatOf(stop, names)}`,
    action: "Escalate",
    values: { level: Math.min(5, (stop.escalation?.level ?? 0) + 1) },
    fields: () => [
      {
        name: "level",
        label: "Level",
        kind: "choice",
        required: true,
        schema: {},
        options: [1, 2, 3, 4, 5].map((value) => ({ value, label: `Level ${value}` })),
        hint: stop.escalation ? `It stands at level ${stop.escalation.level}.` : "1 is the first, 5 the highest.",
      },
      note("What is to be done"),
      initials,
    ],
    send: (values) => send(stop, "escalate", values),
  });

/** exclude takes a stop out of the figures, or back in. */
export const exclude = (stop, names) =>
  ask({
    entered: typed,
    title: `${stop.excluded ? "Into the figures" : "Out of the figures"}: ${whatOf(stop, names)}`,
    action: stop.excluded ? "Let it count" : "Take it out",
    intro: stop.excluded
      ? "The stop counts again, from its start."
      : "The stop stays in the list and counts in no figure: its time is left out, as time without data is.",
    fields: () => [note(stop.excluded ? "Note" : "Why", { required: !stop.excluded })],
    send: (values) => send(stop, "exclude", { ...values, excluded: !stop.excluded }),
  });

/** endManual ends a manual downtime that goes on. Now is when it was sent first, so that it is the same write when it is sent again. */
export const endManual = (stop, names) => {
  let sent = null;
  return ask({
    entered: typed,
    title: `End: ${whatOf(stop, names)}`,
    action: "End it",
    values: { endAt: null },
    fields: () => [
      {
        name: "endAt",
        label: "It ended",
        kind: "moment",
        step: 1,
        zone: names.plantOf(stop.stationCode)?.timezone,
        schema: {},
        hint: "By the plant's clock. Empty: now.",
      },
      note(),
      initials,
    ],
    send: ({ endAt, ...rest }) =>
      once(
        "POST",
        "/issue",
        clean({ ...rest, stationCode: stop.stationCode, endAt: endAt ?? (sent ??= new Date(now()).toISOString()) }),
      ).then(({ result }) => result),
  });
};

/** lengthOf gives how long a stop or part lasted or lasts, ms. */
export const lengthOf = (stop, at = now()) =>
  stop.endAt ? new Date(stop.endAt) - new Date(stop.startAt) : Math.max(0, at - new Date(stop.startAt));

/** lengthText writes it. */
export const lengthText = (stop, at) => spell(lengthOf(stop, at));
