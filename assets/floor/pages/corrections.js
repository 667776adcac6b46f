// Corrections: what held in the past is set right, after a look at what that does to the figures, and can be undone.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { get, post, query } from "../../shared/api.js";
import { openDialog, running, sentence, toast } from "../../shared/dialog.js";
import { directory } from "../../shared/directory.js";
import { time } from "../../shared/format.js";
import { live } from "../../shared/live.js";
import { once } from "../../shared/once.js";
import { table } from "../../shared/rows.js";
import { schemas } from "../../shared/schema.js";
import { style } from "../../shared/styles.js";
import { text } from "../../shared/words.js";
import { changeTexts } from "../corrections/changes.js";
import { effects } from "../corrections/effects.js";
import { Maker, longest } from "../corrections/maker.js";

export async function open(ctx) {
  const [names, all, first, end] = await Promise.all([
    directory(),
    schemas(),
    get("/correction?limit=200"),
    live.follow(),
    style(new URL("../stops.css", import.meta.url)),
    style(new URL("../corrections.css", import.meta.url)),
  ]);
  const page = new Page(ctx, names, all, first);
  page.readAddress(ctx);
  return {
    title: text("floor.corrections.title"),
    render: () => page.render(),
    changed: (next) => page.readAddress(next),
    leave: end,
  };
}

class Page {
  maker = null;
  computing = [];
  order = {};

  constructor(ctx, names, schemasOfAll, first) {
    Object.assign(this, { ctx, names, schemas: schemasOfAll });
    this.take(first);
  }

  take({ results, paging }) {
    Object.assign(this, { rows: results, total: paging.totalElements });
  }

  readAddress({ query: q }) {
    if (!q.has("new")) this.maker = null;
    else
      this.maker ??= new Maker({
        names: this.names,
        schemas: this.schemas,
        profile: this.ctx.profile,
        query: q,
        changed: this.ctx.update,
        leave: () => this.ctx.navigate("/floor/corrections"),
        made: (result) => this.made(result),
      });
    this.ctx.update();
  }

  async made(result) {
    this.computing = result.computing;
    this.maker = null;
    this.ctx.navigate("/floor/corrections", { replace: true });
    await this.read();
  }

  async read(limit = 200) {
    try {
      this.take(await get(`/correction${query({ limit })}`));
      this.error = null;
    } catch (error) {
      this.error = error;
    }
    this.ctx.update();
  }

  render() {
    return html`<div class="page-head"><h1>${text("floor.corrections.title")}</h1>${this.maker ? nothing : html`<a class="button primary" href="/floor/corrections?new=1">${text("floor.corrections.new")}</a>`}
        <p>${text("floor.corrections.intro")}</p></div>
      ${
        this.computing.length
          ? html`<p class="notice wait" role="status"><strong>${text("floor.corrections.computing.title")}</strong> ${text("floor.corrections.computing", { stations: this.computing.map((code) => this.names.station(code).name).join(", ") })} <button type="button" class="link" @click=${() => {
              this.computing = [];
              this.ctx.update();
            }}>${text("floor.corrections.close")}</button></p>`
          : nothing
      }
      ${this.maker?.render() ?? nothing}
      ${this.error ? html`<p class="notice bad" role="alert">${sentence(this.error)}</p>` : nothing}
      ${table({ caption: text("floor.corrections.title"), columns: this.columns(), rows: this.rows, key: (row) => row.id, state: this.order, changed: this.ctx.update, empty: text("floor.corrections.none"), rowClass: (row) => (row.undoneAt ? "undone" : "") })}
      ${this.total > this.rows.length && this.rows.length < 1000 ? html`<button type="button" class="button" @click=${() => this.read(1000)}>${text("floor.corrections.more", { n: this.total })}</button>` : nothing}`;
  }

  columns() {
    const zone = (row) => this.names.plantOf(row.stationCodes[0])?.timezone,
      at = (moment, row) => time(moment, { zone: zone(row) });
    return [
      {
        name: "when",
        label: text("floor.corrections.column.when"),
        text: (r) => r.from,
        cell: (r) => html`<span>${at(r.from, r)}<br>– ${at(r.to, r)}</span>`,
      },
      {
        name: "stations",
        label: text("floor.corrections.column.stations"),
        text: (r) => r.stationCodes.map((c) => this.names.station(c).name).join(", "),
        cell: (r) =>
          html`<span dir="auto" class="wrap" title=${r.stationCodes.join(", ")}>${r.stationCodes.length > 4 ? text("floor.corrections.stations", { n: r.stationCodes.length }) : r.stationCodes.map((c) => this.names.station(c).name).join(", ")}</span>`,
      },
      {
        name: "what",
        label: text("floor.corrections.column.what"),
        cell: (r) =>
          html`<ul class="plain">${changeTexts(r.changes, this.names).map((c) => html`<li><span dir="auto">${c.what}</span>: <strong dir="auto">${c.text}</strong></li>`)}</ul>`,
      },
      {
        name: "note",
        label: text("floor.corrections.column.why"),
        text: (r) => r.note,
        cell: (r) => html`<span dir="auto" class="wrap">${r.note}</span>`,
      },
      {
        name: "made",
        label: text("floor.corrections.column.made"),
        text: (r) => r.createdAt,
        cell: (r) => html`<span dir="auto">${r.author}<br><span class="muted">${at(r.createdAt, r)}</span></span>`,
      },
      {
        name: "state",
        label: text("floor.corrections.column.state"),
        text: (r) => (r.undoneAt ? "1" : "0"),
        cell: (r) =>
          r.undoneAt
            ? html`<span class="state">${text("floor.corrections.undone")}</span><br><span class="muted" dir="auto">${r.undoneBy}, ${at(r.undoneAt, r)}</span>`
            : html`<span class="state ok">${text("floor.corrections.counts")}</span>`,
      },
      {
        name: "",
        label: "",
        cell: (r) =>
          r.undoneAt
            ? nothing
            : html`<button type="button" class="button small" aria-label=${text("floor.corrections.undo.label", { id: r.id })} @click=${() => this.undo(r)}>${text("floor.corrections.undo")}</button>`,
      },
    ];
  }

  async undo(row) {
    const state = { preview: null, error: null, busy: false },
      path = `/correction/${encodeURIComponent(row.id)}/undo`,
      look = new AbortController();
    const result = await openDialog(
      (control) => {
        if (!state.asked) {
          state.asked = true;
          post(`${path}?dryrun=true`, undefined, { signal: look.signal })
            .then(
              ({ result: seen }) => {
                state.preview = seen;
              },
              (error) => {
                state.error = error;
              },
            )
            .finally(() => control.element.open && control.update());
        }
        const send = async () => {
          Object.assign(state, { busy: true, error: null });
          control.update();
          try {
            control.close((await once("POST", path, undefined, { limit: longest })).result);
          } catch (error) {
            Object.assign(state, { busy: false, error });
            control.tell(error);
          }
        };
        return {
          title: text("floor.corrections.undo.title"),
          body: html`<ul class="plain">${changeTexts(row.changes, this.names).map((c) => html`<li><span dir="auto">${c.what}</span>: <strong dir="auto">${c.text}</strong></li>`)}</ul>
          ${state.preview ? effects(state.preview, this.names) : state.error ? nothing : html`<p role="status">${text("floor.corrections.computing.preview")}</p>`}
          ${state.error ? html`<p class="notice bad" role="alert">${sentence(state.error)}</p>` : nothing}`,
          actions: html`<button type="button" class="button" @click=${() => control.close()}>${state.busy ? running : text("floor.corrections.leave")}</button><button type="button" class="button danger" ?disabled=${state.busy || !state.preview} @click=${send}>${text("floor.corrections.undo.button")}</button>`,
        };
      },
      { wide: true },
    );
    look.abort();
    if (!result) return;
    toast(text("floor.corrections.undo.done"));
    this.computing = result.computing;
    await this.read();
  }
}
