// A table of an analysis with its file.

import { html } from "../../vendor/lit-html/lit-html.js";
import { saveTable } from "../../shared/plot.js";
import { table } from "../../shared/rows.js";
import { text } from "../../shared/words.js";
import { fileColumns, keyOf } from "./names.js";

/** listing draws rows under columns, as rows.js does, in the order that the address says. file are the file's columns where it has more. */
export function listing(
  page,
  { title, rows, columns, file = columns, name, key = keyOf, empty = text("floor.analysis.empty") },
) {
  return html`<section class="card figure-card listing"><div class="spread"><h2>${title}</h2><button type="button" class="button small" @click=${() => saveTable(page.file(name), fileColumns(file), rows)}>${text("floor.analysis.csv")}</button></div>
    ${table({ columns, rows, key, state: page.order, stack: false, changed: page.sort, caption: title, empty })}</section>`;
}
