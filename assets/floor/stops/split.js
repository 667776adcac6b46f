// Splitting a stop: a bar of time with handles, and the same as numbers. The parts always have the whole time exactly.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { Directive, directive } from "../../vendor/lit-html/directive.js";
import { post } from "../../shared/api.js";
import { clean } from "../../shared/ask.js";
import { openDialog, sentence } from "../../shared/dialog.js";
import { field } from "../../shared/form.js";
import { count, duration, time } from "../../shared/format.js";
import { now } from "../../shared/ticks.js";
import { whatOf } from "./actions.js";
import { flat, stationOf } from "./reasons.js";

/** Cuts move by whole seconds; shortest is the least that a part can have, ms. */
const second = 1000, shortest = 1000, mostParts = 50;

// The policy forbids style attributes in markup, so places are set by script.
class Place extends Directive {
  update({ element }, [from, width]) {
    element.style.insetInlineStart = `${from * 100}%`;
    if (width !== undefined) element.style.inlineSize = `${width * 100}%`;
    return undefined;
  }
  render() { return undefined; }
}
export const place = directive(Place);

/** moveCut gives parts [{start, causeCode}] with the start of part i at another moment, ms: between its neighbours, on whole seconds after the begin. */
export function moveCut(parts, i, to, end) {
  const low = parts[i - 1].start + shortest, high = (parts[i + 1]?.start ?? end) - shortest;
  const snapped = parts[0].start + Math.round((to - parts[0].start) / second) * second;
  return parts.map((p, at) => (at === i ? { ...p, start: Math.min(high, Math.max(low, snapped)) } : p));
}

/** cutLongest gives parts with the longest one halved; the same where none can be. */
export function cutLongest(parts, end) {
  const length = (i) => (parts[i + 1]?.start ?? end) - parts[i].start;
  const i = parts.map((_, at) => at).reduce((a, b) => (length(b) > length(a) ? b : a));
  if (length(i) < 2 * shortest || parts.length >= mostParts) return parts;
  const middle = parts[i].start + Math.round(length(i) / 2 / second) * second;
  return [...parts.slice(0, i + 1), { start: middle, causeCode: null }, ...parts.slice(i + 1)];
}

/** split asks how to cut a stop into parts, and gives the stop as it is then. */
export async function split(stop, names) {
  const reasons = flat((await stationOf(stop.stationCode)).reasons);
  const zone = names.plantOf(stop.stationCode)?.timezone, opened = now();
  const begin = Date.parse(stop.startAt), end = stop.endAt ? Date.parse(stop.endAt) : Math.max(opened, begin + 2 * shortest);
  let parts = stop.parts.map((p) => ({ start: Date.parse(p.startAt), causeCode: p.causeCode }));
  if (parts.length < 2) parts = cutLongest(parts, end);
  const state = { note: null, error: null, problems: [], busy: false };
  const endOf = (i) => parts[i + 1]?.start ?? end;
  return openDialog((control) => {
    const change = (next) => { parts = next; state.problems = []; control.update(); };
    const submit = async () => {
      document.activeElement?.blur?.();
      Object.assign(state, { busy: true, error: null, problems: [] });
      control.update();
      try {
        const body = { parts: parts.map((p, i) => clean({ startAt: i ? new Date(p.start).toISOString() : null, causeCode: p.causeCode })), ...clean({ note: state.note }) };
        control.close((await post(`/issue/${encodeURIComponent(stop.id)}/split`, body)).result);
      } catch (error) {
        Object.assign(state, { busy: false, error });
        control.update();
      }
    };
    const cut = (i) => html`<button type="button" class="split-handle" role="slider" aria-label=${`Begin of part ${i + 1}`} aria-valuemin="0" aria-valuemax=${Math.round((end - begin) / 1000)} aria-valuenow=${Math.round((parts[i].start - begin) / 1000)}
      aria-valuetext=${`${duration(parts[i].start - begin)} after the begin, ${time(parts[i].start, { zone, date: false, seconds: true })}`} data-cut=${i} ${place((parts[i].start - begin) / (end - begin))}
      @keydown=${(e) => keys(e, i)} @pointerdown=${(e) => drag(e, i)}></button>`;
    const keys = (e, i) => {
      const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 }[e.key];
      if (!by) return;
      e.preventDefault();
      change(moveCut(parts, i, parts[i].start + by * (e.shiftKey ? 1000 : 60000), end));
    };
    const drag = (e, i) => {
      const bar = e.target.parentElement.getBoundingClientRect(), handle = e.target;
      handle.setPointerCapture(e.pointerId);
      const move = (ev) => change(moveCut(parts, i, begin + ((ev.clientX - bar.left) / bar.width) * (end - begin), end));
      handle.addEventListener("pointermove", move);
      handle.addEventListener("lostpointercapture", () => handle.removeEventListener("pointermove", move), { once: true });
    };
    const line = (p, i) => {
      const length = endOf(i) - p.start, last = i === parts.length - 1;
      return html`<tr><th scope="row">${i + 1}</th>
        <td>${i === 0 ? html`<span>${time(p.start, { zone, date: false, seconds: true })}</span>` : field({ name: "startAt", label: `Begin of part ${i + 1}`, kind: "moment", step: 1, zone, schema: {}, hint: "", id: `split-start-${i}`, value: new Date(p.start).toISOString(), change: (at) => at && change(moveCut(parts, i, Date.parse(at), end)) })}</td>
        <td>${last && !stop.endAt ? html`<span>goes on, ${duration(length)} by now</span>` : field({ name: "length", label: `Length of part ${i + 1}`, kind: "duration", schema: {}, hint: "", id: `split-length-${i}`, value: length, change: (ms) => ms > 0 && change(last ? moveCut(parts, i, end - ms, end) : moveCut(parts, i + 1, p.start + ms, end)) })}</td>
        <td>${field({ name: "causeCode", label: `Cause of part ${i + 1}`, kind: "choice", schema: {}, hint: "", placeholder: "Not known", id: `split-cause-${i}`, value: p.causeCode, options: reasons.map((r) => ({ value: r.code, label: [...r.path, r.name].join(" / ") })), change: (code) => change(parts.map((q, at) => (at === i ? { ...q, causeCode: code } : q))) })}</td>
        <td><button type="button" class="icon-button" aria-label=${`Join part ${i + 1} to ${i ? "the one before" : "the next"}`} title="Join" ?disabled=${parts.length <= 2} @click=${() => change(i ? parts.filter((_, at) => at !== i) : [{ ...parts[1], start: begin }, ...parts.slice(2)])}>✕</button></td></tr>`;
    };
    return {
      title: `Split: ${whatOf(stop, names)}`,
      body: html`<p class="muted">Drag a handle, move it with the arrow keys (a minute; with Shift a second), or enter begin or length. The parts always make up the whole: <strong>${duration(end - begin)}</strong>${stop.endAt ? "" : " by now; the last one goes on"}.</p>
        <div class="split-bar" role="group" aria-label="Parts over time">${parts.map((p, i) => html`<div class="split-part ${p.causeCode ? "" : "uncaused"}" ${place((p.start - begin) / (end - begin), (endOf(i) - p.start) / (end - begin))} title=${p.causeCode ? names.reason(p.causeCode).name : "No cause"}><span dir="auto">${p.causeCode ? names.reason(p.causeCode).name : "No cause"}</span></div>`)}${parts.slice(1).map((_, i) => cut(i + 1))}</div>
        <div class="split-ends"><span>${time(begin, { zone, date: false, seconds: true })}</span><span>${stop.endAt ? time(end, { zone, date: false, seconds: true }) : "now"}</span></div>
        <div class="table-wrap split-table"><table class="table"><thead><tr><th scope="col">Part</th><th scope="col">Begin</th><th scope="col">Length</th><th scope="col">Cause</th><th scope="col"><span class="visually-hidden">Join</span></th></tr></thead><tbody>${parts.map(line)}</tbody></table></div>
        <div class="spread"><button type="button" class="button" ?disabled=${cutLongest(parts, end) === parts} @click=${() => change(cutLongest(parts, end))}>Another cut</button><span class="muted">${count(parts.length, "part")}</span></div>
        ${field({ name: "note", label: "Note", kind: "lines", schema: {}, hint: "", id: "split-note", value: state.note, change: (v) => { state.note = v; } })}
        ${state.error ? html`<div class="notice bad" role="alert">${state.error.details?.length ? html`<ul>${state.error.details.map((d) => html`<li>${sentence(`${d.field} ${d.issue}`)}</li>`)}</ul>` : sentence(state.error)}</div>` : nothing}`,
      actions: html`<button type="button" class="button" @click=${() => control.close()}>Cancel</button>
        <button type="button" class="button primary" ?disabled=${state.busy} @click=${submit}>${state.busy ? "Sending …" : "Split"}</button>`,
    };
  }, { wide: true });
}
