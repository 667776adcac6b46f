// The dialog that imports schedules from a table: what would be made, changed and refused is shown first; then it is written,
// and told row by row.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { readText } from "../../shared/csv.js";
import { openDialog, sentence } from "../../shared/dialog.js";
import { count } from "../../shared/format.js";
import { saveTable, saveText } from "../../shared/plot.js";
import { schemas } from "../../shared/schema.js";
import { spanText } from "../../shared/zone.js";
import { nameOf } from "./bars.js";
import { exportTable } from "./table.js";
import { shownIn } from "./listing.js";
import { Import, forget, issueText, kept, write } from "./import.js";

const shown = 200; // rows of the preview that are drawn
const rest = 300; // ms without a key until the table is read

// Where numbers are written with a comma, spreadsheets want semicolons between cells.
const comma = () => (1.5).toLocaleString(navigator.language).includes(",");

/** exportSchedules gives the schedules that the chart shows to the person, as CSV. */
export async function exportSchedules(page) {
  saveText(
    "schedules.csv",
    exportTable(await schemas(), shownIn(page), (code) => page.names.plantOf(code).timezone, comma()),
    "text/csv;charset=utf-8",
  );
}

/** importSchedules asks for a table and writes what it says. */
export async function importSchedules(page) {
  const [all, broken] = await Promise.all([schemas(), kept(page.ctx.profile)]);
  const state = {
    text: "",
    file: "",
    found: null,
    problem: "",
    job: null,
    broken,
    writing: false,
    done: false,
    stop: new AbortController(),
  };
  await openDialog(
    (control) => {
      state.update = control.update;
      return {
        title: "Import schedules",
        body: state.job ? progress(state) : source(page, all, state),
        actions: buttons(page, state, control),
      };
    },
    { wide: true, unsaved: () => unsaved(state) },
  );
  state.found?.stop();
  state.stop.abort();
}

// unsaved gives what is asked before the dialog is left.
function unsaved({ text, job, writing }) {
  if (writing)
    return {
      title: "Stop the import?",
      text: `${job.results.length} of ${count(job.rows.length, "row")} are written. Import goes on with the others when you open it again.`,
      action: "Stop",
    };
  return !job && text.trim()
    ? { title: "Leave the import?", text: "Nothing of the table is written yet.", action: "Leave" }
    : null;
}

function source(page, all, state) {
  const read = (text, file) => {
    Object.assign(state, { text, file, problem: "" });
    clearTimeout(state.timer);
    state.timer = setTimeout(() => look(page, all, state), file ? 0 : rest);
    state.update();
  };
  const choose = (file) =>
    file &&
    readText(file).then(
      (text) => read(text, file.name),
      (error) => {
        state.problem = sentence(error);
        state.update();
      },
    );
  return html`${
    state.broken
      ? html`<div class="notice wait"><strong>An import was broken off.</strong> ${state.broken.results.length} of ${count(state.broken.rows.length, "row")}${state.broken.file ? html` of <bdi>${state.broken.file}</bdi>` : nothing} are written. No row is written twice.
      <div class="row"><button type="button" class="button small primary" @click=${() => run(page, state, state.broken)}>Go on</button><button type="button" class="button small" @click=${() => {
        forget(page.ctx.profile);
        state.broken = null;
        state.update();
      }}>Leave it</button></div></div>`
      : nothing
  }
    <p class="muted">A row with the code of a schedule changes that one; a row without makes one. A column that is left out changes nothing, an empty cell clears the value. Times are those of the plant's clock. Export first to see the columns.</p>
    <div class="row"><label class="button">Choose a file<input type="file" class="visually-hidden" accept=".csv,.txt,.tsv,text/csv" aria-label="File to import" @change=${(e) => choose(e.target.files[0])}></label><bdi class="muted">${state.file}</bdi></div>
    <label class="stack">Or paste it here<textarea rows="4" spellcheck="false" dir="auto" aria-label="Table to import" @input=${(e) => read(e.target.value, "")}></textarea></label>
    <div aria-live="polite" class="stack">${state.problem ? html`<p class="notice bad">${state.problem}</p>` : nothing}${state.found ? preview(page, state.found) : nothing}</div>`;
}

async function look(page, all, state) {
  state.found?.stop();
  if (!state.text.trim()) {
    state.found = null;
    return state.update();
  }
  const found = (state.found = new Import({
    all,
    names: page.names,
    plan: page.plan,
    update: () => {
      if (state.found === found) state.update();
    },
  }));
  await found.examine(state.text);
}

const does = { make: ["+", "Made"], change: ["~", "Changed"], nothing: ["=", "As it is"], refuse: ["✕", "Refused"] };

function preview({ names }, found) {
  const { rows, problems, unknown } = found;
  if (problems.length)
    return html`<div class="notice bad" role="alert"><strong>The table cannot be read.</strong><ul class="import-problems">${problems.map((p) => html`<li><bdi>${issueText(p)}</bdi>.</li>`)}</ul></div>`;
  if (!found.ready) return html`<p role="status">Trying row ${found.tried} of ${rows.length} …</p>`;
  const refused = rows.filter((row) => row.does === "refuse"),
    rest = rows.filter((row) => row.does !== "refuse" && row.does !== "nothing");
  return html`${unknown.length ? html`<p class="notice wait">Not known here, and left out: ${unknown.map((name, i) => html`${i ? ", " : ""}<bdi>${name}</bdi>`)}.</p>` : nothing}
    <p><strong>${
      Object.entries(does)
        .map(([name, [, word]]) => [found.count(name), word.toLowerCase()])
        .filter(([n]) => n)
        .map(([n, word]) => `${n} ${word}`)
        .join(", ") || "No rows"
    }.</strong>${refused.length ? " What is refused is left out; mend the table and choose it again, or import the rest." : ""}</p>
    ${
      refused.length
        ? html`<div class="notice bad"><ul class="import-problems">${refused
            .slice(0, shown)
            .flatMap((row) => row.problems)
            .map((p) => html`<li><bdi>${issueText(p)}</bdi>.</li>`)}</ul>${more(refused)}</div>`
        : nothing
    }
    ${
      rest.length
        ? html`<ul class="differences import-rows">${rest.slice(0, shown).map(
            (
              row,
            ) => html`<li class=${row.does === "make" ? "added" : "changed"}><span class="sign" aria-hidden="true">${does[row.does][0]}</span><span class="visually-hidden">${does[row.does][1]}:</span>
      <span>Row ${row.row}</span><bdi>${nameOf(row.view, names)}</bdi><bdi>${names.station(row.view.stationCode).name}</bdi>
      <span>${spanText(Date.parse(row.view.plannedStartAt), row.view.expectedEndAt ? Date.parse(row.view.expectedEndAt) : null, found.zoneOf(row.view.stationCode))}</span>
      ${
        row.does === "change"
          ? html`<span class="muted">${Object.keys(row.body)
              .filter((name) => name !== "id")
              .join(", ")}</span>`
          : nothing
      }</li>`,
          )}</ul>${more(rest)}`
        : nothing
    }`;
}

const more = (list) => (list.length > shown ? html`<p>… and ${list.length - shown} more.</p>` : nothing);

async function run(page, state, job) {
  Object.assign(state, { job, broken: null, writing: true, stop: new AbortController() });
  state.update();
  state.done = await write(job, {
    plan: page.plan,
    profile: page.ctx.profile,
    told: state.update,
    signal: state.stop.signal,
  });
  state.writing = false;
  state.update();
}

function progress({ job, writing, done }) {
  const of = (name) => job.results.filter((r) => r.does === name),
    refused = of("refuse");
  return html`<progress max=${job.rows.length} .value=${job.results.length} aria-label="Rows written"></progress>
    <p role="status"><strong>${writing ? `Writing row ${job.results.length} of ${job.rows.length} …` : done ? "Done." : "Broken off."}</strong> ${of("make").length} made, ${of("change").length} changed, ${refused.length} refused.</p>
    ${refused.length ? html`<div class="notice bad"><ul class="import-problems">${refused.slice(0, shown).map((r) => html`<li><bdi>${issueText({ row: r.row, column: "", issue: r.issue })}</bdi>.</li>`)}</ul></div>` : nothing}`;
}

function buttons(page, state, control) {
  const { found, job, writing, done } = state,
    n = found ? found.count("make") + found.count("change") : 0;
  if (!job) {
    return html`<button type="button" class="button" @click=${() => control.close()}>Cancel</button>
      <button type="button" class="button primary" ?disabled=${!found?.ready || n === 0} @click=${() => run(page, state, found.job(state.file))}>Import ${n ? count(n, "row") : ""}</button>`;
  }
  if (writing) return html`<button type="button" class="button" @click=${() => state.stop.abort()}>Stop</button>`;
  const report = () =>
    saveTable(
      "schedules-import",
      [
        { label: "Row", text: (r) => r.row },
        { label: "Result", text: (r) => does[r.does][1] },
        { label: "Schedule", text: (r) => r.id },
        { label: "Why", text: (r) => r.issue },
      ],
      job.results,
    );
  return html`<button type="button" class="button" @click=${report}>Report as CSV</button>
    ${done ? nothing : html`<button type="button" class="button" @click=${() => run(page, state, job)}>Go on</button>`}<button type="button" class="button primary" @click=${() => control.close()}>Close</button>`;
}
