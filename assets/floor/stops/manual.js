// Manual downtime: it is started, or one that is over is recorded.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { once } from "../../shared/once.js";
import { clean } from "../../shared/ask.js";
import { openDialog, running, sentence } from "../../shared/dialog.js";
import { field } from "../../shared/form.js";
import { actsAt } from "../../shared/roles.js";
import { initials, note, typed } from "./actions.js";
import { chooser, recent, stationOf, trees } from "./reasons.js";

/**
 * recordManual asks for a manual downtime at one of the stations where the reader may act, and returns it. stationCode may be left
 * out; all: what the page shows, for the reasons that were given of late.
 */
export function recordManual({ names, profile, stationCode, all }) {
  const manual = new Manual(names, profile, all);
  const answer = openDialog(
    (control) => {
      manual.control = control;
      return manual.content();
    },
    { wide: true, entered: typed, busy: () => manual.busy },
  );
  if (stationCode) manual.look(stationCode);
  return answer;
}

class Manual {
  stationCode = null;
  over = false;
  startAt = null;
  endAt = null;
  initials = null;
  note = null;
  station = null; // its configuration, when it is known
  state = { reason: null, search: "" };
  problems = {};
  error = null;
  busy = false;

  constructor(names, profile, all) {
    Object.assign(this, { names, profile, all });
  }

  // look finds out what a station has: reasons, and whether the flag is on.
  async look(code) {
    Object.assign(this, {
      stationCode: code,
      station: null,
      error: null,
      problems: {},
      state: { reason: null, search: "" },
    });
    this.control.update();
    if (!code) return;
    try {
      const [station, reasons] = await Promise.all([stationOf(code), trees([code])]);
      if (this.stationCode === code) Object.assign(this, { station, reasons });
    } catch (error) {
      this.error = error;
    }
    this.control.update();
  }

  async send() {
    document.activeElement?.blur?.();
    Object.assign(this, { busy: true, error: null, problems: {} });
    this.control.update();
    const { stationCode, startAt, endAt } = this;
    try {
      this.control.close(
        (
          await once(
            "POST",
            "/issue",
            clean({
              stationCode,
              causeCode: this.state.reason,
              initials: this.initials,
              note: this.note,
              ...(this.over ? { startAt, endAt } : {}),
            }),
          )
        ).result,
      );
    } catch (error) {
      this.problems = Object.fromEntries((error.details ?? []).map((d) => [d.field, d.issue]));
      Object.assign(this, { busy: false, error: Object.keys(this.problems).length ? null : error });
      this.control.tell(error);
    }
  }

  value(name, more) {
    return field({
      schema: {},
      hint: "",
      ...more,
      name,
      id: `manual-${name}`,
      value: this[name],
      problem: this.problems[name],
      change: (v) => {
        this[name] = v;
        this.control.update();
      },
    });
  }

  content() {
    const flag = this.station?.flags.enableManualDowntime,
      off = flag && flag.value !== "on",
      zone = this.names.plantOf(this.stationCode)?.timezone;
    const stations = this.names
      .stations()
      .filter((s) => actsAt(this.profile, s.code))
      .map((s) => ({ value: s.code, label: s.name }));
    return {
      title: "Manual downtime",
      body: html`<div class="fields">
        ${field({ name: "stationCode", label: "Station", kind: "choice", schema: {}, hint: "", id: "manual-station", value: this.stationCode, placeholder: "Choose a station", problem: this.problems.stationCode, options: stations, change: (code) => this.look(code) })}
        ${this.value("over", { kind: "boolean", label: "It is over already", hint: "Else it begins now and goes on until it is ended. Nothing is counted meanwhile." })}
        ${this.over ? html`${this.value("startAt", { kind: "moment", step: 1, label: "It began", zone, hint: "By the plant's clock." })}${this.value("endAt", { kind: "moment", step: 1, label: "It ended", zone })}` : nothing}
        </div>
        ${off ? html`<p class="notice wait" role="alert">Manual downtime is off at this station: ${flag.from === "default" ? "no level of the configuration switches it on" : `the ${flag.from} decides so`}.</p>` : nothing}
        ${this.station && !off ? html`<h3>Cause, if it is known</h3>${this.problems.causeCode ? html`<p class="problem bad" role="alert">${this.problems.causeCode}</p>` : nothing}${chooser({ reasons: this.reasons, last: recent(this.all, [this.stationCode]), state: this.state, changed: this.control.update })}` : nothing}
        <div class="fields">${this.value("initials", initials)}${this.value("note", note())}</div>
        ${this.error ? html`<p class="notice bad" role="alert">${sentence(this.error)}</p>` : nothing}`,
      actions: html`<button type="button" class="button" @click=${() => this.control.close()}>${this.busy ? running : "Cancel"}</button>
        <button type="button" class="button primary" ?disabled=${this.busy || !this.stationCode || off || (this.over && !(this.startAt && this.endAt))} @click=${() => this.send()}>${this.over ? "Record it" : "Start it now"}</button>`,
    };
  }
}
