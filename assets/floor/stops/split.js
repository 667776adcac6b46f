// Splitting a stop: a bar of time with handles, and the same as numbers. The parts always have the whole time exactly.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { Directive, directive } from "../../vendor/lit-html/directive.js";
import { clean } from "../../shared/ask.js";
import { now } from "../../shared/clock.js";
import { openDialog, running, sentence } from "../../shared/dialog.js";
import { field } from "../../shared/form.js";
import { count, duration, time } from "../../shared/format.js";
import { once } from "../../shared/once.js";
import { whatOf } from "./actions.js";
import { flat, stationOf } from "./reasons.js";

/** Cuts move by whole seconds; shortest is the least that a part can have, ms. */
const second = 1000,
  shortest = 1000,
  mostParts = 50;

// The policy forbids style attributes in markup, so places are set by script.
class Place extends Directive {
  update({ element }, [from, width]) {
    element.style.insetInlineStart = `${from * 100}%`;
    if (width !== undefined) element.style.inlineSize = `${width * 100}%`;
    return undefined;
  }
  render() {
    return undefined;
  }
}
export const place = directive(Place);

/** moveCut gives parts [{start, causeCode}] with the start of part i at another moment, ms: between its neighbours, on whole seconds after the begin. */
function moveCut(parts, i, to, end) {
  const low = parts[i - 1].start + shortest,
    high = (parts[i + 1]?.start ?? end) - shortest;
  const snapped = parts[0].start + Math.round((to - parts[0].start) / second) * second;
  return parts.map((p, at) => (at === i ? { ...p, start: Math.min(high, Math.max(low, snapped)) } : p));
}

/** cutLongest gives parts with the longest one halved; the same where none can be. */
function cutLongest(parts, end) {
  const length = (i) => (parts[i + 1]?.start ?? end) - parts[i].start;
  const i = parts.map((_, at) => at).reduce((a, b) => (length(b) > length(a) ? b : a));
  if (length(i) < 2 * shortest || parts.length >= mostParts) return parts;
  const middle = parts[i].start + Math.round(length(i) / 2 / second) * second;
  return [...parts.slice(0, i + 1), { start: middle, causeCode: null }, ...parts.slice(i + 1)];
}

/** split asks how to cut a stop into parts, and gives the stop as it is then. */
export async function split(stop, names) {
  const splitter = new Splitter(stop, names, flat((await stationOf(stop.stationCode)).reasons));
  return openDialog(
    (control) => {
      splitter.control = control;
      return splitter.content();
    },
    { wide: true, entered: () => splitter.cut, busy: () => splitter.busy },
  );
}

class Splitter {
  note = null;
  cut = false; // by somebody
  error = null;
  busy = false;

  constructor(stop, names, reasons) {
    Object.assign(this, {
      stop,
      names,
      reasons,
      zone: names.plantOf(stop.stationCode)?.timezone,
      begin: Date.parse(stop.startAt),
    });
    this.end = stop.endAt ? Date.parse(stop.endAt) : Math.max(now(), this.begin + 2 * shortest);
    this.parts = stop.parts.map((p) => ({ start: Date.parse(p.startAt), causeCode: p.causeCode }));
    if (this.parts.length < 2) this.parts = cutLongest(this.parts, this.end);
  }

  change(parts) {
    Object.assign(this, { parts, cut: true });
    this.control.update();
  }

  move(i, to) {
    this.change(moveCut(this.parts, i, to, this.end));
  }

  endOf(i) {
    return this.parts[i + 1]?.start ?? this.end;
  }

  share(ms) {
    return ms / (this.end - this.begin);
  }

  clock(at) {
    return time(at, { zone: this.zone, date: false, seconds: true });
  }

  nameOf(part) {
    return part.causeCode ? this.names.reason(part.causeCode).name : "No cause";
  }

  async send() {
    document.activeElement?.blur?.();
    Object.assign(this, { busy: true, error: null });
    this.control.update();
    try {
      const parts = this.parts.map((p, i) =>
        clean({ startAt: i ? new Date(p.start).toISOString() : null, causeCode: p.causeCode }),
      );
      this.control.close(
        (
          await once("POST", `/issue/${encodeURIComponent(this.stop.id)}/split`, {
            parts,
            ...clean({ note: this.note }),
          })
        ).result,
      );
    } catch (error) {
      Object.assign(this, { busy: false, error });
      this.control.tell(error);
    }
  }

  content() {
    const { stop, parts, error } = this,
      more = cutLongest(parts, this.end);
    return {
      title: `Split: ${whatOf(stop, this.names)}`,
      body: html`<p class="muted">Drag a handle, move it with the arrow keys (a minute; with Shift a second), or enter begin or length. The parts always make up the whole: <strong>${duration(this.end - this.begin)}</strong>${stop.endAt ? "" : " by now; the last one goes on"}.</p>
        ${this.bar()}
        <div class="table-wrap split-table"><table class="table"><thead><tr><th scope="col">Part</th><th scope="col">Begin</th><th scope="col">Length</th><th scope="col">Cause</th><th scope="col"><span class="visually-hidden">Join</span></th></tr></thead><tbody>${parts.map((p, i) => this.line(p, i))}</tbody></table></div>
        <div class="spread"><button type="button" class="button" ?disabled=${more === parts} @click=${() => this.change(more)}>Another cut</button><span class="muted">${count(parts.length, "part")}</span></div>
        ${field({
          name: "note",
          label: "Note",
          kind: "lines",
          schema: {},
          hint: "",
          id: "split-note",
          value: this.note,
          change: (v) => {
            this.note = v;
          },
        })}
        ${error ? html`<div class="notice bad" role="alert">${error.details?.length ? html`<ul>${error.details.map((d) => html`<li>${sentence(`${d.field} ${d.issue}`)}</li>`)}</ul>` : sentence(error)}</div>` : nothing}`,
      actions: html`<button type="button" class="button" @click=${() => this.control.close()}>${this.busy ? running : "Cancel"}</button>
        <button type="button" class="button primary" ?disabled=${this.busy} @click=${() => this.send()}>${this.busy ? "Sending …" : "Split"}</button>`,
    };
  }

  bar() {
    return html`<div class="split-bar" role="group" aria-label="Parts over time">
        ${this.parts.map((p, i) => html`<div class="split-part ${p.causeCode ? "" : "uncaused"}" ${place(this.share(p.start - this.begin), this.share(this.endOf(i) - p.start))} title=${this.nameOf(p)}><span dir="auto">${this.nameOf(p)}</span></div>`)}
        ${this.parts.slice(1).map((p, i) => this.handle(p, i + 1))}</div>
      <div class="split-ends"><span>${this.clock(this.begin)}</span><span>${this.stop.endAt ? this.clock(this.end) : "now"}</span></div>`;
  }

  handle(part, i) {
    const after = part.start - this.begin;
    return html`<button type="button" class="split-handle" role="slider" aria-label=${`Begin of part ${i + 1}`} aria-valuemin="0" aria-valuemax=${Math.round((this.end - this.begin) / 1000)} aria-valuenow=${Math.round(after / 1000)}
      aria-valuetext=${`${duration(after)} after the begin, ${this.clock(part.start)}`} data-cut=${i} ${place(this.share(after))} @keydown=${(e) => this.keys(e, i)} @pointerdown=${(e) => this.drag(e, i)}></button>`;
  }

  keys(event, i) {
    const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 }[event.key];
    if (!by) return;
    event.preventDefault();
    this.move(i, this.parts[i].start + by * (event.shiftKey ? 1000 : 60000));
  }

  drag(event, i) {
    const handle = event.target,
      bar = handle.parentElement.getBoundingClientRect();
    handle.setPointerCapture(event.pointerId);
    const move = ({ clientX }) =>
      this.move(i, this.begin + ((clientX - bar.left) / bar.width) * (this.end - this.begin));
    handle.addEventListener("pointermove", move);
    handle.addEventListener("lostpointercapture", () => handle.removeEventListener("pointermove", move), {
      once: true,
    });
  }

  // A part as numbers. A length moves the cut at the part's end; that of the last one, the cut at its begin.
  line(part, i) {
    const { parts, end } = this,
      length = this.endOf(i) - part.start,
      last = i === parts.length - 1;
    const cell = (name, label, more) =>
      field({ name, label: `${label} of part ${i + 1}`, schema: {}, hint: "", ...more, id: `split-${name}-${i}` });
    return html`<tr><th scope="row">${i + 1}</th>
      <td>${i === 0 ? html`<span>${this.clock(part.start)}</span>` : cell("start", "Begin", { kind: "moment", step: 1, zone: this.zone, value: new Date(part.start).toISOString(), change: (at) => at && this.move(i, Date.parse(at)) })}</td>
      <td>${last && !this.stop.endAt ? html`<span>goes on, ${duration(length)} by now</span>` : cell("length", "Length", { kind: "duration", value: length, change: (ms) => ms > 0 && (last ? this.move(i, end - ms) : this.move(i + 1, part.start + ms)) })}</td>
      <td>${cell("cause", "Cause", { kind: "choice", placeholder: "Not known", value: part.causeCode, options: this.reasons.map((r) => ({ value: r.code, label: [...r.path, r.name].join(" / ") })), change: (code) => this.change(parts.map((q, at) => (at === i ? { ...q, causeCode: code } : q))) })}</td>
      <td><button type="button" class="icon-button" aria-label=${`Join part ${i + 1} to ${i ? "the one before" : "the next"}`} title="Join" ?disabled=${parts.length <= 2} @click=${() => this.change(i ? parts.filter((_, at) => at !== i) : [{ ...parts[1], start: this.begin }, ...parts.slice(2)])}>✕</button></td></tr>`;
  }
}
