// Pages that show one list of the API and let it be changed: loading, searching, ordering, and what went wrong.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { sentence, toast } from "../shared/dialog.js";
import { matches } from "../shared/format.js";
import { table } from "../shared/rows.js";

/**
 * listPage makes a page of a list:
 *
 *   title, intro, caption, empty
 *   load()      gives the rows
 *   texts(row)  what a search looks at; without it there is no search
 *   columns     of rows.js's table; key(row)
 *   head(list)  buttons beside the title; list: {rows, reload(), run(work, done), update()}
 *   every       milliseconds after which it is loaded again while the page is looked at; 0 = never
 */
export async function listPage(
  ctx,
  { title, intro, caption, empty, load, texts, columns, key, head, order = {}, every = 0 },
) {
  let turn = 0;
  const list = {
    rows: await load(),
    search: "",
    update: ctx.update,
    async reload() {
      const mine = ++turn,
        rows = await load();
      if (mine !== turn) return; // somebody asked again meanwhile
      list.rows = rows;
      ctx.update();
    },
    /** run does something, says that it is done (done: a sentence, or what makes one of the answer), and loads the list again; what goes wrong is told. */
    async run(work, done) {
      try {
        const answer = await work();
        if (answer === undefined) return undefined;
        if (done) toast(typeof done === "function" ? done(answer) : done);
        await list.reload().catch((error) => toast(sentence(error), "bad")); // it is done all the same: a new key must be shown
        return answer;
      } catch (error) {
        toast(sentence(error), "bad");
        return undefined;
      }
    },
  };
  const state = { ...order };
  const timer =
    every &&
    setInterval(() => {
      if (document.visibilityState === "visible") list.reload().catch(() => {});
    }, every);
  const render = () => {
    const rows =
      list.search && texts
        ? list.rows.filter((row) => matches(list.search, ...texts(row).map((t) => t ?? "")))
        : list.rows;
    return html`<div class="page-head"><h1>${title}</h1><div class="row">${head?.(list) ?? nothing}</div>${intro ? html`<p>${intro}</p>` : nothing}</div>
      ${
        texts && list.rows.length > 7
          ? html`<input type="search" class="search" aria-label=${`Search ${title}`} placeholder="Search" .value=${list.search} @input=${(
              e,
            ) => {
              list.search = e.target.value;
              ctx.update();
            }}>`
          : nothing
      }
      ${table({ columns: columns(list), rows, key, state, changed: ctx.update, caption: caption ?? title, empty: list.rows.length ? "Nothing is found." : empty })}`;
  };
  return { title, render, leave: () => clearInterval(timer), list };
}
