// A table of an analysis with its file; of very many rows the first are drawn until all are asked for.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { saveTable } from "../../shared/plot.js";
import { table } from "../../shared/rows.js";
import { amount, fileColumns, keyOf } from "./names.js";

const first = 250;

/** listing draws rows under columns, as rows.js does, in the order that the address says. file are the file's columns where it has more. */
export function listing(page, { title, rows, columns, file = columns, name, key = keyOf, empty = "Nothing was scheduled or counted in this time. Choose another time or other stations." }) {
  const all = page.all || rows.length <= first;
  return html`<section class="card figure-card listing"><div class="spread"><h2>${title}</h2><button type="button" class="button small" @click=${() => saveTable(page.file(name), fileColumns(file), rows)}>CSV</button></div>
    ${table({ columns, rows, key, state: page.order, stack: false, most: all ? rows.length : first, changed: page.sort, caption: title, empty })}
    ${all ? nothing : html`<p class="row"><span>${first} of ${amount(rows.length)} rows are shown; the file has all.</span> <button type="button" class="button small" @click=${page.showAll}>Show all</button></p>`}</section>`;
}
