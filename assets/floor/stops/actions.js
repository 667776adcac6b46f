// What can be done with stops: each is asked for in a dialog, sent, and what the service refuses is told there.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { post } from "../../shared/api.js";
import { ask, clean } from "../../shared/ask.js";
import { openDialog, sentence, toast } from "../../shared/dialog.js";
import { field } from "../../shared/form.js";
import { count, time } from "../../shared/format.js";
import { now, spell } from "../../shared/ticks.js";
import { chooser, recent, stationOf, trees } from "./reasons.js";

const words = { type: "string", maxLength: 1000 };
const initials = { name: "initials", label: "Initials", schema: {}, hint: "3 to 8 characters. May stay empty: your e-mail address is kept." };
const note = (label = "Note", more = {}) => ({ name: "note", label, kind: "lines", schema: words, hint: "", ...more });

const send = async (stop, verb, body) => (await post(`/issue/${encodeURIComponent(stop.id)}/${verb}`, clean(body))).result;

/** whatOf names a stop in a few words: "Slow period at Kiln 2, 14:03". */
export const nouns = { stop: "Stop", slow: "Slow period", manual: "Manual downtime" };
export const whatOf = (stop, names) => `${nouns[stop.type]} at ${names.station(stop.stationCode).name}, ${time(stop.startAt, { zone: names.plantOf(stop.stationCode)?.timezone, date: false })}`;

/**
 * giveCause asks for the cause of stops, or of a part of one (partStartAt), and gives those that have it. Where one is
 * refused it is told, with the sentence, and the others have theirs.
 */
export async function giveCause({ stops, all, names, partStartAt, now: was }) {
  const codes = [...new Set(stops.map((s) => s.stationCode))];
  const reasons = await trees(codes);
  const state = { reason: was ?? null, search: "", initials: null, note: null, refused: [], done: [], busy: false };
  const what = partStartAt ? "this part" : stops.length === 1 ? whatOf(stops[0], names) : count(stops.length, "stop");
  return openDialog((control) => {
    const give = async (causeCode) => {
      document.activeElement?.blur?.();
      Object.assign(state, { busy: true, refused: [] });
      control.update();
      const left = stops.filter((stop) => !state.done.some((done) => done.id === stop.id));
      for (const stop of left) {
        try {
          const body = { ...clean({ initials: state.initials, note: state.note, partStartAt }), causeCode };
          state.done.push((await post(`/issue/${encodeURIComponent(stop.id)}/cause`, body)).result);
        } catch (error) {
          state.refused.push({ stop, error });
        }
        if (left.length > 1) control.update();
      }
      if (state.refused.length === 0) {
        toast(causeCode === null ? "The cause is taken back." : `${count(state.done.length, "stop has its cause", "stops have their cause")}.`);
        return control.close(state.done);
      }
      state.busy = false;
      control.update();
    };
    return {
      title: `Cause: ${what}`,
      body: html`${codes.length > 1 ? html`<p class="muted">Reasons that all ${codes.length} stations have.</p>` : nothing}
        ${chooser({ reasons, last: recent(all, codes), state, changed: control.update })}
        <div class="fields">${[initials, note()].map((f) => field({ ...f, id: `cause-${f.name}`, value: state[f.name], change: (value) => { state[f.name] = value; } }))}</div>
        ${state.refused.length ? html`<div class="notice bad" role="alert"><strong>${count(state.refused.length, "stop is", "stops are")} as before.</strong>
          <ul>${state.refused.map(({ stop, error }) => html`<li>${whatOf(stop, names)}: ${told(error)}</li>`)}</ul></div>` : nothing}`,
      actions: html`<button type="button" class="button" @click=${() => control.close(state.done.length ? state.done : undefined)}>${state.done.length ? "Close" : "Cancel"}</button>
        ${stops.some((s) => s.causeFrom === "person" || s.parts.some((p) => p.causeFrom === "person")) ? html`<button type="button" class="button" ?disabled=${state.busy} @click=${() => give(null)}>Take the cause back</button>` : nothing}
        <button type="button" class="button primary" ?disabled=${state.busy || !state.reason} @click=${() => give(state.reason)}>${state.busy ? `Sending … ${stops.length > 1 ? `${state.done.length} of ${stops.length}` : ""}` : "Give the cause"}</button>`,
    };
  }, { wide: true });
}

// told writes an error with what it says of fields.
const told = (error) => (error.details?.length ? error.details.map((d) => sentence(`${d.field} ${d.issue}`)).join(" ") : sentence(error));

/** acknowledge says that somebody has seen a stop. */
export const acknowledge = (stop, names) => ask({
  title: `Acknowledge: ${whatOf(stop, names)}`, action: "Acknowledge", fields: () => [initials, note()], send: (values) => send(stop, "acknowledge", values),
});

/** estimate says when a stop is expected to end; what was said can be taken back. */
export const estimate = (stop, names) => ask({
  title: `Expected end: ${whatOf(stop, names)}`, action: "Save", values: { expectedEndAt: stop.estimate?.expectedEndAt ?? new Date(Math.ceil((now() + 900000) / 300000) * 300000).toISOString() },
  fields: () => [
    { name: "expectedEndAt", label: "It is expected to end", kind: "moment", zone: names.plantOf(stop.stationCode)?.timezone, schema: {}, hint: stop.estimate ? "By the plant's clock. Empty takes the estimate back." : "By the plant's clock." },
    initials, note(),
  ],
  send: ({ expectedEndAt, ...rest }) => post(`/issue/${encodeURIComponent(stop.id)}/estimate`, { ...clean(rest), expectedEndAt: expectedEndAt ?? null }).then(({ result }) => result),
});

/** escalate takes a stop further up. */
export const escalate = (stop, names) => ask({
  title: `Escalate: ${whatOf(stop, names)}`, action: "Escalate", values: { level: Math.min(5, (stop.escalation?.level ?? 0) + 1) },
  fields: () => [
    { name: "level", label: "Level", kind: "choice", required: true, schema: {}, options: [1, 2, 3, 4, 5].map((value) => ({ value, label: `Level ${value}` })), hint: stop.escalation ? `It stands at level ${stop.escalation.level}.` : "1 is the first, 5 the highest." },
    note("What is to be done"), initials,
  ],
  send: (values) => send(stop, "escalate", values),
});

/** exclude takes a stop out of the figures, or back in. */
export const exclude = (stop, names) => ask({
  title: `${stop.excluded ? "Into the figures" : "Out of the figures"}: ${whatOf(stop, names)}`, action: stop.excluded ? "Let it count" : "Take it out",
  intro: stop.excluded ? "The stop counts again, from its start." : "The stop stays in the list and counts in no figure: its time is planned production without downtime.",
  fields: () => [note(stop.excluded ? "Note" : "Why", { required: !stop.excluded })],
  send: (values) => send(stop, "exclude", { ...values, excluded: !stop.excluded }),
});

/** endManual ends a manual downtime that goes on. */
export const endManual = (stop, names) => ask({
  title: `End: ${whatOf(stop, names)}`, action: "End it", values: { endAt: null },
  fields: () => [{ name: "endAt", label: "It ended", kind: "moment", step: 1, zone: names.plantOf(stop.stationCode)?.timezone, schema: {}, hint: "By the plant's clock. Empty: now." }, note(), initials],
  send: ({ endAt, ...rest }) => post("/issue", clean({ ...rest, stationCode: stop.stationCode, endAt: endAt ?? new Date(now()).toISOString() })).then(({ result }) => result),
});

/** recordManual starts a manual downtime, or records one that is over. */
export function recordManual({ names, stationCode, all }) {
  const state = { stationCode: stationCode ?? null, over: false, startAt: null, endAt: null, reason: null, search: "", initials: null, note: null, station: null, problems: {}, error: null, busy: false };
  return openDialog((control) => {
    const look = async (code) => {
      Object.assign(state, { stationCode: code, station: null, reason: null, error: null, problems: {} });
      control.update();
      if (code) [state.station, state.reasons] = await Promise.all([stationOf(code), trees([code])]).catch((error) => { state.error = error; return []; });
      control.update();
    };
    if (state.stationCode && !state.station && !state.asked) { state.asked = true; look(state.stationCode); }
    const flag = state.station?.flags.enableManualDowntime, off = flag && flag.value !== "on";
    const put = async () => {
      document.activeElement?.blur?.();
      Object.assign(state, { busy: true, error: null, problems: {} });
      control.update();
      try {
        control.close((await post("/issue", clean({ stationCode: state.stationCode, causeCode: state.reason, initials: state.initials, note: state.note, ...(state.over ? { startAt: state.startAt, endAt: state.endAt } : {}) }))).result);
      } catch (error) {
        state.problems = Object.fromEntries((error.details ?? []).map((d) => [d.field, d.issue]));
        Object.assign(state, { busy: false, error: Object.keys(state.problems).length ? null : error });
        control.update();
      }
    };
    const zone = names.plantOf(state.stationCode)?.timezone;
    const value = (name, more) => field({ schema: {}, hint: "", ...more, name, id: `manual-${name}`, value: state[name], problem: state.problems[name], change: (v) => { state[name] = v; control.update(); } });
    return {
      title: "Manual downtime",
      body: html`<div class="fields">
        ${field({ name: "stationCode", label: "Station", kind: "choice", schema: {}, hint: "", id: "manual-station", value: state.stationCode, placeholder: "Choose a station", problem: state.problems.stationCode, options: names.stations().map((s) => ({ value: s.code, label: s.name })), change: look })}
        ${value("over", { kind: "boolean", label: "It is over already", hint: "Else it begins now and goes on until it is ended. Nothing is counted meanwhile." })}
        ${state.over ? html`${value("startAt", { kind: "moment", step: 1, label: "It began", zone, hint: "By the plant's clock." })}${value("endAt", { kind: "moment", step: 1, label: "It ended", zone })}` : nothing}
        </div>
        ${off ? html`<p class="notice wait" role="alert">Manual downtime is off at this station: ${flag.from === "default" ? "no level of the configuration switches it on" : `the ${flag.from} decides so`}.</p>` : nothing}
        ${state.station && !off ? html`<h3>Cause, if it is known</h3>${state.problems.causeCode ? html`<p class="problem bad" role="alert">${state.problems.causeCode}</p>` : nothing}${chooser({ reasons: state.reasons, last: recent(all, [state.stationCode]), state, changed: control.update })}` : nothing}
        <div class="fields">${value("initials", initials)}${value("note", note())}</div>
        ${state.error ? html`<p class="notice bad" role="alert">${sentence(state.error)}</p>` : nothing}`,
      actions: html`<button type="button" class="button" @click=${() => control.close()}>Cancel</button>
        <button type="button" class="button primary" ?disabled=${state.busy || !state.stationCode || off || (state.over && !(state.startAt && state.endAt))} @click=${put}>${state.over ? "Record it" : "Start it now"}</button>`,
    };
  }, { wide: true });
}

/** lengthOf gives how long a stop or part lasted or lasts, ms. */
export const lengthOf = (stop, at = now()) => (stop.endAt ? new Date(stop.endAt) - new Date(stop.startAt) : Math.max(0, at - new Date(stop.startAt)));

/** lengthText writes it. */
export const lengthText = (stop, at) => spell(lengthOf(stop, at));
