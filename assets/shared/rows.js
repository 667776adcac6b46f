// Long lists: only the rows that can be seen are in the page, however many there are.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { AsyncDirective } from "../vendor/lit-html/async-directive.js";
import { directive } from "../vendor/lit-html/directive.js";
import { createRef, ref } from "../vendor/lit-html/directives/ref.js";
import { repeat } from "../vendor/lit-html/directives/repeat.js";
import { brief } from "./brief.js";
import { compare, number } from "./format.js";
import { text } from "./words.js";

/** Rows above and below the visible ones that are drawn too, so that scrolling shows no gaps. */
const spare = 12;

/** Rows of a table that are drawn at first, and again whenever its end comes near. */
const portion = 250;

/** How near, in pixels. */
const near = "1500px";

// Printable draws the whole list for paper, which does not scroll: this.whole is true meanwhile.
class Printable extends AsyncDirective {
  listen() {
    this.paper ??= (event) => {
      this.whole = event.type === "beforeprint";
      this.setValue(this.show());
    };
    for (const type of ["beforeprint", "afterprint"]) addEventListener(type, this.paper);
  }

  disconnected() {
    for (const type of ["beforeprint", "afterprint"]) removeEventListener(type, this.paper);
  }

  reconnected() {
    this.listen();
  }
}

/**
 * visible shows the rows of a list that scrolls by itself: visible({count, height, key(i), row(i)}), height in pixels of each
 * row. It stands inside an element with the class "rows", whose height is bounded and that scrolls.
 */
class Visible extends Printable {
  update(part, [list]) {
    this.list = list;
    const box = part.parentNode;
    if (box !== this.box) {
      this.box?.removeEventListener("scroll", this.scrolled);
      this.box = box;
      this.scrolled = () => {
        if (this.from !== this.first()) this.setValue(this.show());
      };
      box.addEventListener("scroll", this.scrolled, { passive: true });
      new ResizeObserver(() => this.isConnected && this.setValue(this.show())).observe(box);
      this.listen();
    }
    return this.show();
  }

  first() {
    return this.whole ? 0 : Math.max(0, Math.floor(this.box.scrollTop / this.list.height) - spare);
  }

  show() {
    const { count, height, key, row } = this.list;
    this.from = Math.min(this.first(), Math.max(0, count - 1));
    const to = this.whole
      ? count
      : Math.min(count, this.from + Math.ceil((this.box.clientHeight || 600) / height) + 2 * spare);
    const all = Array.from({ length: Math.max(0, to - this.from) }, (_, i) => this.from + i);
    return html`<div class="rows-space" .hidden=${this.from === 0} ${space(this.from * height)}></div>
      ${repeat(all, key, row)}
      <div class="rows-space" .hidden=${to >= count} ${space((count - to) * height)}></div>`;
  }

  disconnected() {
    this.box?.removeEventListener("scroll", this.scrolled);
    super.disconnected();
  }

  reconnected() {
    this.box?.addEventListener("scroll", this.scrolled, { passive: true });
    super.reconnected();
  }
}

// Growing draws the rows of a table as far as somebody has scrolled, so that a key typed in a search draws few of many. What is
// not drawn is told below the table, as the browser's own search does not find it.
class Growing extends Printable {
  drawn = portion; // Infinity once somebody asked for all
  body = createRef();

  update(part, [list]) {
    this.list = list;
    if (!this.end) {
      this.end = new IntersectionObserver(
        (seen) => {
          if (seen.some((e) => e.isIntersecting)) this.draw(this.drawn + portion);
        },
        { rootMargin: near },
      );
      this.listen();
    }
    if (Number.isFinite(this.drawn) && scrollY < innerHeight) this.drawn = portion;
    return this.show();
  }

  draw(rows) {
    this.drawn = rows;
    this.setValue(this.show());
  }

  show() {
    const { rows, key, row, around } = this.list,
      drawn = this.whole ? Infinity : this.drawn;
    queueMicrotask(() => this.watch());
    return html`${around(repeat(rows.slice(0, drawn), key, row), ref(this.body))}${
      drawn < rows.length
        ? html`<p class="table-rest">
      <span>${text("shared.rows.shown", { drawn: number(drawn), n: rows.length })}</span> <button type="button" class="button small" @click=${() => this.all()}>${text("shared.rows.all")}</button></p>`
        : nothing
    }`;
  }

  all() {
    this.draw(Infinity);
    this.body.value.closest("[tabindex]").focus({ preventScroll: true }); // the button is gone
  }

  watch() {
    this.end.disconnect();
    if (this.isConnected && this.drawn < this.list.rows.length) this.end.observe(this.body.value.lastElementChild);
  }

  disconnected() {
    super.disconnected();
    this.end?.disconnect();
  }

  reconnected() {
    super.reconnected();
    this.watch();
  }
}
const growing = directive(Growing);

// The policy forbids style attributes in markup, so heights are set by script.
class Space extends AsyncDirective {
  update(part, [pixels]) {
    part.element.style.height = `${pixels}px`;
    return nothing;
  }
  render() {
    return nothing;
  }
}
const space = directive(Space);

export const visible = directive(Visible);

/** scrollTo brings row i of a list of rows into view. */
export function scrollTo(box, i, height) {
  if (i * height < box.scrollTop) box.scrollTop = i * height;
  else if ((i + 1) * height > box.scrollTop + box.clientHeight) box.scrollTop = (i + 1) * height - box.clientHeight;
}

/**
 * table shows rows under columns; where there is little room, a table of more than three shows each row as a card. columns are [{name, label, cell(row), text(row), numeric, sort: false}] and lets them be ordered by text. Of very many rows the first are drawn, and more as somebody scrolls the page: it does not stand in a box that scrolls by itself.
 * state is kept by the page: {by, down}; changed is called when it was changed. Everything else may be left out:
 * key(row), open(row) (what a click on a row does, which the link in its first cell does for the keyboard), empty (what stands there instead of no rows), selected (a Set of keys, with
 * select(keys) called at a change), caption, rowClass(row), stack (false: a table in any case, which is moved sideways).
 */
export function table({
  columns,
  rows,
  key = (row) => row.code,
  state = {},
  changed,
  open,
  empty = text("shared.rows.empty"),
  selected,
  select,
  caption,
  rowClass,
  stack = columns.length > 3,
}) {
  const by = columns.find((c) => c.name === state.by);
  const sorted = by
    ? rows.toSorted(
        (a, b) =>
          (state.down ? -1 : 1) *
          (by.numeric ? (by.text(a) ?? -Infinity) - (by.text(b) ?? -Infinity) : compare(by.text(a), by.text(b))),
      )
    : rows;
  const order = (c) => () => {
    Object.assign(state, { by: c.name, down: state.by === c.name && !state.down });
    changed?.();
  };
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`;
  const all = selected && rows.every((row) => selected.has(key(row)));
  const around = (
    drawn,
    body,
  ) => html`<div class="table-wrap" tabindex="0" role="region" aria-label=${caption ?? text("shared.rows.table")}><table class=${stack ? "table stacked" : "table"}>
    ${caption ? html`<caption class="visually-hidden">${caption}</caption>` : nothing}
    <thead><tr>
      ${selected ? html`<th class="tick"><input type="checkbox" aria-label=${text("shared.rows.choose.all")} .checked=${all} @change=${() => select(all ? [] : rows.map(key))}></th>` : nothing}
      ${columns.map(
        (
          c,
        ) => html`<th scope="col" class=${c.numeric ? "numeric" : ""} aria-sort=${state.by === c.name ? (state.down ? "descending" : "ascending") : nothing}>
        ${c.text && c.sort !== false && changed ? html`<button type="button" @click=${order(c)}>${c.label}<span aria-hidden="true">${state.by === c.name ? (state.down ? " ↓" : " ↑") : ""}</span></button>` : c.label}</th>`,
      )}
    </tr></thead>
    <tbody ${body}>${drawn}</tbody></table></div>`;
  return growing({
    rows: sorted,
    key,
    around,
    row: (row) => html`<tr class=${rowClass?.(row) ?? ""} ?data-open=${Boolean(open)} @click=${(e) => {
      if (open && !e.target.closest("a, button, input, select, label")) open(row);
    }}>
      ${selected ? html`<td class="tick"><input type="checkbox" aria-label=${text("shared.rows.choose", { name: key(row) })} .checked=${selected.has(key(row))} @change=${(e) => select(e.target.checked ? [...selected, key(row)] : [...selected].filter((k) => k !== key(row)))}></td>` : nothing}
      ${columns.map((c) => html`<td class=${c.numeric ? "numeric" : ""} data-label=${c.label}>${c.cell ? c.cell(row) : brief(c.text(row))}</td>`)}
    </tr>`,
  });
}
