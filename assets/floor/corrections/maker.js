// A new correction, step by step: where and when, what held, what it does, and why.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { post } from "../../shared/api.js";
import { discard, sentence, toast } from "../../shared/dialog.js";
import { draftOf, dropDraft, forms, keepDraft } from "../../shared/draft.js";
import { field } from "../../shared/form.js";
import { once } from "../../shared/once.js";
import { text } from "../../shared/words.js";
import { stationOf } from "../stops/reasons.js";
import { changeRow, changesOf, finished, kinds, newRow } from "./changes.js";
import { effects } from "./effects.js";

/** longest is how long the answer to a correction may take, ms: figures are computed, and the service answers within 60 s or not at all. */
export const longest = 65_000;

/**
 * Maker is the form of a new correction. made(result) is called when it is made, leave() when it is given up, changed() to draw
 * again. What profile's person has entered at the same address and neither made nor given up stands in it again.
 */
export class Maker {
  rows = [];
  stations = null;
  from = null;
  to = null;
  note = null;
  touched = false; // something was entered by hand
  preview = null; // {effects, complete}; null: not looked at, or what is entered changed since
  error = null;
  problems = [];
  busy = "";
  settings = null; // of the first station, for what holds now
  #look = null;

  constructor({ names, schemas, profile, query, made, leave, changed }) {
    Object.assign(this, { names, schemas, profile, made, leave, changed, address: String(query) });
    const stations = query.get("stations");
    Object.assign(this, {
      stations: stations ? stations.split(",") : null,
      from: moment(query.get("from")),
      to: moment(query.get("to")),
    });
    for (const [name, value] of Object.entries(read(query.get("station"))))
      if (schemas.CorrectedStation.properties[name])
        this.rows.push({ ...newRow("station"), field: name, value, unset: value === null });
    for (const [code, fields] of Object.entries(read(query.get("skus"))))
      for (const [name, value] of Object.entries(fields))
        this.rows.push({ ...newRow("skus"), code, field: name, value, unset: value === null });
    const draft = draftOf(forms.correction, profile);
    if (draft?.address === this.address) Object.assign(this, draft.entered, { touched: true });
    this.know();
  }

  keep() {
    const { address, rows, stations, from, to, note } = this;
    keepDraft(forms.correction, this.profile, { address, entered: { rows, stations, from, to, note } });
  }

  async know() {
    const [code] = this.stations ?? [];
    this.settings = null;
    if (code)
      this.settings = await stationOf(code).then(
        (s) => s.settings,
        () => null,
      );
    this.changed();
  }

  edited = () => {
    // what was seen of the effect holds no more
    this.#look?.abort();
    Object.assign(this, { touched: true, preview: null, error: null, problems: [], busy: "" });
    this.keep();
    this.changed();
  };

  body() {
    return {
      stationCodes: this.stations ?? [],
      from: this.from,
      to: this.to,
      changes: changesOf(this.rows),
      ...(this.note ? { note: this.note } : {}),
    };
  }

  get complete() {
    return this.stations?.length > 0 && this.from && this.to && this.rows.length > 0 && this.rows.every(finished);
  }

  async send(dry) {
    document.activeElement?.blur?.();
    const look = (this.#look = new AbortController());
    Object.assign(this, { busy: dry ? "look" : "make", error: null, problems: [] });
    this.changed();
    try {
      const { result } = dry
        ? await post("/correction?dryrun=true", this.body(), { signal: look.signal })
        : await once("POST", "/correction", this.body(), { limit: longest });
      this.busy = "";
      if (!dry) {
        toast(text("floor.corrections.made"));
        dropDraft(forms.correction, this.profile);
        return this.made(result);
      }
      this.preview = result;
    } catch (error) {
      if (error.name === "AbortError") return undefined;
      Object.assign(this, { busy: "", problems: error.details ?? [], error });
    }
    return this.changed();
  }

  problem(name) {
    return this.problems
      .filter((d) => d.field === name || d.field.startsWith(`${name}[`))
      .map((d) => sentence(d.issue))
      .join(" ");
  }

  render() {
    const zone = this.names.plantOf(this.stations?.[0])?.timezone,
      shown = new Set(["from", "to", "note"]);
    const value = (name, more) =>
      field({
        schema: {},
        hint: "",
        ...more,
        name,
        id: `correct-${name}`,
        value: this[name],
        problem: this.problem(name),
        change: (v) => {
          this[name] = v;
          this.edited();
        },
      });
    const others = this.problems.filter(
      (d) =>
        !shown.has(d.field) &&
        !d.field.startsWith("stationCodes") &&
        !this.rows.some((r) => r.kind === "station" && d.field === `changes.station.${r.field}`),
    );
    return html`<section class="card stack maker" aria-label=${text("floor.corrections.maker.title")}>
      <div class="spread"><h2>${text("floor.corrections.maker.title")}</h2><button type="button" class="button" @click=${async () => {
        if (this.touched && !(await discard())) return;
        dropDraft(forms.correction, this.profile);
        this.leave();
      }}>${text("floor.corrections.leave")}</button></div>
      <h3>${text("floor.corrections.maker.where")}</h3>
      ${field({
        name: "stationCodes",
        label: text("floor.corrections.column.stations"),
        kind: "codes",
        schema: {},
        hint: "",
        id: "correct-stations",
        value: this.stations,
        options: this.names.stations().map((s) => ({ value: s.code, label: s.name, hint: s.group?.name })),
        problem: this.problem("stationCodes"),
        change: (codes) => {
          this.stations = codes;
          this.edited();
          this.know();
        },
      })}
      <div class="fields">${value("from", { kind: "moment", label: text("floor.corrections.maker.from"), zone, hint: text("floor.corrections.maker.from.hint") })}${value("to", { kind: "moment", label: text("floor.corrections.maker.to"), zone, hint: text("floor.corrections.maker.to.hint") })}</div>
      <h3>${text("floor.corrections.maker.what")}</h3>
      ${this.rows.map((row, i) =>
        changeRow({
          row,
          i,
          schemas: this.schemas,
          names: this.names,
          was: row.kind === "station" ? this.settings?.[row.field] : undefined,
          problem: row.kind === "station" ? this.problem(`changes.station.${row.field}`) : "",
          changed: this.edited,
          remove: () => {
            this.rows = this.rows.filter((r) => r !== row);
            this.edited();
          },
        }),
      )}
      <div class="row">${Object.entries(kinds).map(
        ([kind, { label }]) =>
          html`<button type="button" class="button small" @click=${() => {
            this.rows = [...this.rows, newRow(kind)];
            this.edited();
          }}>+ ${label}</button>`,
      )}</div>
      <h3>${text("floor.corrections.maker.effect")}</h3>
      <div class="row"><button type="button" class="button ${this.preview ? "" : "primary"}" ?disabled=${!this.complete || Boolean(this.busy)} @click=${() => this.send(true)}>${text("floor.corrections.maker.look")}</button>
        ${this.busy === "look" ? html`<span role="status">${text("floor.corrections.computing.preview")}</span> <button type="button" class="link" @click=${this.edited}>${text("floor.corrections.maker.stop")}</button>` : nothing}
        ${this.complete ? nothing : html`<span class="muted">${text("floor.corrections.maker.missing")}</span>`}</div>
      ${this.error && (others.length || !this.problems.length) ? html`<div class="notice bad" role="alert">${others.length ? html`<ul>${others.map((d) => html`<li>${sentence(`${d.field} ${d.issue}`)}</li>`)}</ul>` : sentence(this.error)}</div>` : nothing}
      ${
        this.preview
          ? html`${effects(this.preview, this.names)}
        <h3>${text("floor.corrections.maker.make")}</h3>
        ${field({
          name: "note",
          label: text("floor.corrections.column.why"),
          kind: "lines",
          schema: {},
          hint: text("floor.corrections.maker.why.hint"),
          id: "correct-note",
          value: this.note,
          problem: this.problem("note"),
          change: (v) => {
            this.note = v;
            this.keep();
            this.changed();
          },
        })}
        <div class="row"><button type="button" class="button primary" ?disabled=${Boolean(this.busy)} @click=${() => this.send(false)}>${this.busy === "make" ? text("floor.corrections.maker.making") : text("floor.corrections.maker.button")}</button><span class="muted">${text("floor.corrections.maker.undo")}</span></div>`
          : nothing
      }
    </section>`;
  }
}

const moment = (text) => {
  const at = Date.parse(text ?? "");
  return Number.isFinite(at) ? new Date(Math.floor(at / 60000) * 60000).toISOString() : null;
};

const read = (text) => {
  try {
    return JSON.parse(text ?? "{}") ?? {};
  } catch {
    return {};
  }
};
