// Buttons that export a list as CSV and import one: what would change is shown before it becomes the draft.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { put } from "../../shared/api.js";
import { readText } from "../../shared/csv.js";
import { openDialog, sentence, toast } from "../../shared/dialog.js";
import { differences } from "../../shared/document.js";
import { count } from "../../shared/format.js";
import { schemas } from "../../shared/schema.js";
import { differenceList } from "../differences.js";
import { kinds } from "./kinds.js";
import { exportList, importList, rowOf } from "./lists.js";

/** Most problems that are told at once. */
const shown = 100;

/** listButtons gives the buttons for a list: "skus", "reasons" or "stations". */
export const listButtons = (ctx, name) => html`
  ${ctx.workspace.readOnly ? nothing : html`<button type="button" class="button" @click=${() => importDialog(ctx, name).catch((error) => toast(sentence(error), "bad"))}>Import CSV …</button>`}
  <button type="button" class="button" @click=${() => download(ctx, name).catch((error) => toast(sentence(error), "bad"))}>Export CSV</button>`;

// Where numbers are written with a comma, spreadsheets want semicolons between cells.
const comma = () => (1.5).toLocaleString(navigator.language).includes(",");

async function download(ctx, name) {
  const text = exportList(name, await schemas(), ctx.workspace.doc, { comma: comma() });
  const link = Object.assign(document.createElement("a"), {
    href: URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" })),
    download: `${ctx.workspace.doc.account.id}-${name}.csv`,
  });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

async function importDialog(ctx, name) {
  const all = await schemas(),
    kind = kinds[name];
  const state = {
    doc: null,
    text: "",
    file: "",
    remove: false,
    found: null,
    problems: [],
    changes: [],
    busy: false,
    turn: 0,
  };
  await openDialog(
    (control) => {
      const look = () => examine(ctx, name, all, state, control.update);
      const take = () => {
        if (ctx.workspace.doc !== state.doc) return look(); // it is another draft than the one that was looked at
        ctx.workspace.edit((doc) => importList(name, all, doc, state.text, state).doc);
        control.close(true);
        toast(
          `${count(state.changes.length, "change")} taken over. ${state.changes.length === 1 ? "It counts" : "They count"} when you apply the draft.`,
        );
        ctx.update();
      };
      return {
        title: `Import ${kind.many}`,
        body: html`${source(kind, state, look, control)}<div aria-live="polite" class="stack">${state.text ? result(kind, state) : nothing}</div>`,
        actions: html`<button type="button" class="button" @click=${() => control.close()}>Cancel</button>
        <button type="button" class="button primary" ?disabled=${state.busy || state.problems.length > 0 || state.changes.length === 0} @click=${take}>Take over</button>`,
      };
    },
    { wide: true },
  );
}

function source(kind, state, look, control) {
  const read = async (file) => {
    if (!file) return;
    state.file = file.name;
    try {
      state.text = await readText(file);
    } catch (error) {
      Object.assign(state, {
        text: " ",
        found: null,
        changes: [],
        problems: [{ row: 0, column: "", issue: error.message }],
      });
      control.update();
      return;
    }
    look();
  };
  return html`<p class="muted">A row with a code that is there changes that ${kind.one}; another code adds one. A column that is left out changes nothing, an empty cell clears the value. Lists of codes stand in a cell with semicolons between them. Export first to see the columns.</p>
    <div class="row"><label class="button">Choose a file<input type="file" class="visually-hidden" accept=".csv,.txt,.tsv,text/csv" aria-label="File to import" @change=${(e) => read(e.target.files[0])}></label><bdi class="muted">${state.file}</bdi></div>
    <label class="stack">Or paste it here<textarea rows="4" spellcheck="false" dir="auto" aria-label="Table to import" @input=${(
      e,
    ) => {
      Object.assign(state, { text: e.target.value, file: "" });
      look();
    }}></textarea></label>
    <label class="check row"><input type="checkbox" .checked=${state.remove} @change=${(e) => {
      state.remove = e.target.checked;
      look();
    }}> Remove ${kind.many} that are not in the table</label>`;
}

// examine works out what the table does, and has the service check that, when the hands rest.
function examine(ctx, name, all, state, update) {
  const mine = ++state.turn,
    { doc } = ctx.workspace;
  const found = state.text.trim()
    ? importList(name, all, doc, state.text, state)
    : { doc, rows: new Map(), unknown: [], missing: 0, problems: [] };
  const changes = differences(doc, found.doc);
  Object.assign(state, { doc, found, problems: found.problems, changes, busy: changes.length > 0 });
  update();
  if (!state.busy) return;
  setTimeout(async () => {
    if (mine !== state.turn) return;
    const problems = await check(ctx.workspace, name, all, found).catch((error) => [
      { row: 0, column: "", issue: error.message },
    ]);
    if (mine !== state.turn) return;
    Object.assign(state, { problems, busy: false });
    update();
  }, 250);
}

// What the service says of the rows, and of the rest if it did not say so before.
async function check(workspace, name, all, found) {
  try {
    await put("/account/manifest?dryrun=true", found.doc);
    return [];
  } catch (error) {
    if (error.status !== 400) throw error;
    return error.details.flatMap(({ field, issue }) => {
      const at = rowOf(name, all, found.doc, found.rows, field);
      if (at) return [{ ...at, issue }];
      return workspace.problems.has(field)
        ? []
        : [{ row: 0, column: "", issue: `${field.replace(/^account\./, "")} ${issue}` }];
    });
  }
}

function result(kind, { found, problems, changes, busy, remove }) {
  return html`
    ${found?.unknown.length ? html`<p class="notice wait">Not known here, and left out: ${found.unknown.map((name, i) => html`${i ? ", " : ""}<bdi>${name}</bdi>`)}.</p>` : nothing}
    ${
      problems.length
        ? html`<div class="notice bad" role="alert"><strong>${count(problems.length, "problem")}. Nothing is taken over.</strong>
        <ul class="import-problems">${problems.slice(0, shown).map(({ row, column, issue }) => html`<li>${row ? html`<b>Row ${row}${column ? `, ${column}` : ""}:</b> ` : nothing}<bdi>${issue}</bdi>.</li>`)}</ul>
        ${problems.length > shown ? html`<p>… and ${problems.length - shown} more.</p>` : nothing}</div>`
        : found
          ? html`<p>${count(found.rows.size, "row")} read. ${found.missing ? `${count(found.missing, kind.one, kind.many)} ${found.missing === 1 ? "is" : "are"} not in the table and ${remove ? (found.missing === 1 ? "goes" : "go") : found.missing === 1 ? "stays" : "stay"}.` : ""} ${busy ? "Checking …" : ""}</p>${differenceList(changes)}`
          : nothing
    }`;
}
