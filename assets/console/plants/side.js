// The tree at the side: rows that are drawn as they are seen, a search, and the keys of a tree.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { count, number } from "../../shared/format.js";
import { scrollTo, visible } from "../../shared/rows.js";
import { changeOf, indexOf, isMeter, isScheduling, prepare, rowsOf } from "./tree.js";

const coarse = matchMedia("(pointer: coarse)");
const rowHeight = () => (coarse.matches ? 46 : 34); // pixels, as plants.css has them

/** Above so many stations the groups are closed at first. */
const manyStations = 300;

/** What a filter shows: label, and whether a node is shown. */
const filters = {
  changed: ["Changed", (node, { applied }) => changeOf(node, applied) !== ""],
  problems: ["With problems", (node, { workspace }) => workspace.problemsBelow(node.path) > 0],
  meters: ["Meters", (node) => isMeter(node)],
  scheduling: ["Scheduling only", (node) => isScheduling(node)],
};

/** Side is the tree and what is chosen in it. It outlives the page, so that coming back finds it as it was left. */
export class Side {
  search = "";
  filter = "";
  chosen = new Set(); // codes of stations
  #closed = null;
  #cursor = "";
  #anchor = ""; // where a choice with Shift starts
  #typed = "";
  #typedAt = 0;
  #rows = [];
  #made = [];
  #wanted = "";

  /** show gives the template; opened is the node whose page is shown. */
  show(ctx, opened) {
    const { workspace } = ctx,
      index = indexOf(workspace.doc),
      applied = indexOf(workspace.base);
    Object.assign(this, { ctx, index, applied, workspace });
    if (!this.#closed) {
      this.#closed = new Set(
        index.stations.length > manyStations ? index.plants.flatMap((p) => p.children.map((g) => g.id)) : [],
      );
      prepare(index);
    }
    this.#reveal(opened);
    this.opened = opened;
    this.#make();
    const height = rowHeight(),
      rows = this.#rows,
      active = rows.findIndex((r) => r.node.id === this.#cursor);
    return html`<section class="side" aria-label="Plants, groups and stations">
      ${this.#head()}
      <div class="rows tree" role="tree" tabindex="0" aria-label="Plants, groups and stations" aria-multiselectable=${String(!workspace.readOnly)} aria-activedescendant=${active < 0 ? nothing : `n-${active}`}
          @keydown=${(e) => this.#key(e)} @click=${(e) => this.#click(e)} @focus=${() => this.#focus()}>
        ${visible({ count: rows.length, height, key: (i) => rows[i].node.id, row: (i) => this.#row(rows[i], i) })}
      </div>
      ${rows.length ? nothing : html`<p class="empty small">Nothing is found. <button type="button" class="link" @click=${() => this.clear()}>Show everything</button></p>`}
      ${this.chosen.size ? this.#foot() : html`<p class="muted small side-foot" role="status">${this.#found()}</p>`}
    </section>`;
  }

  #found() {
    const shown = this.#rows.filter((r) => !r.node.children).length;
    return this.search || this.filter
      ? `${number(shown)} of ${count(this.index.stations.length, "station")}`
      : count(this.index.stations.length, "station");
  }

  #head() {
    return html`<div class="side-head">
      <input id="side-search" type="search" aria-label="Find a plant, group or station by code, name or description" placeholder="Find a station" autocomplete="off" spellcheck="false" dir="auto" .value=${this.search}
        @input=${(e) => {
          this.search = e.target.value;
          this.ctx.update();
        }} @keydown=${(e) => this.#searchKey(e)}>
      <select aria-label="Show" .value=${this.filter} @change=${(e) => {
        this.filter = e.target.value;
        this.ctx.update();
      }}>
        <option value="">All</option>${Object.entries(filters).map(([name, [label]]) => html`<option value=${name} ?selected=${name === this.filter}>${label}</option>`)}
      </select></div>`;
  }

  #foot() {
    const open = (view) => this.ctx.navigate(`${location.pathname}?view=${view}`);
    return html`<div class="side-foot chosen" role="status"><strong>${number(this.chosen.size)} chosen</strong>
      <span class="row"><button type="button" class="button small primary" @click=${() => open("together")}>Edit together</button>
      <button type="button" class="button small" @click=${() => {
        this.chosen = new Set();
        this.ctx.update();
      }}>Choose none</button></span></div>`;
  }

  /** clear ends the search. */
  clear() {
    Object.assign(this, { search: "", filter: "" });
    this.ctx.update();
    document.getElementById("side-search")?.focus();
  }

  // Rows are made anew only when something that they depend on changed.
  #make() {
    const { index, applied, workspace } = this,
      depends = [
        index,
        this.search,
        this.filter,
        this.#closed,
        this.filter === "problems" && workspace.problems,
        this.filter === "changed" && applied,
      ];
    if (depends.every((value, i) => value === this.#made[i])) return;
    const only = filters[this.filter]?.[1];
    this.#made = depends;
    this.#rows = rowsOf(index, {
      search: this.search,
      only: only ? (node) => only(node, this) : null,
      closed: this.#closed,
    });
  }

  // The page's node is brought into view once, when it is opened.
  #reveal(opened) {
    if (!opened || opened.id === this.opened?.id) return;
    this.#cursor = opened.id;
    this.#close([opened.plant, opened.group].filter(Boolean), false);
    this.#wanted = opened.id;
    requestAnimationFrame(() => this.#scroll());
  }

  #scroll() {
    const at = this.#rows.findIndex((r) => r.node.id === this.#wanted),
      box = document.querySelector(".tree");
    this.#wanted = "";
    if (at < 0 || !box) return;
    const top = at * rowHeight();
    if (top < box.scrollTop || top + rowHeight() > box.scrollTop + box.clientHeight)
      box.scrollTop = top - box.clientHeight / 2;
  }

  #close(nodes, closed) {
    const next = new Set(this.#closed);
    for (const node of nodes)
      if (closed) next.add(node.id);
      else next.delete(node.id);
    this.#closed = next;
  }

  #row({ node, level, position, size, open }, i) {
    const { chosen, opened } = this,
      ticked = this.#isChosen(node),
      marks = this.#marks(node);
    return html`<div class=${`node ${node.kind} ${node.id === this.#cursor ? "at" : ""}`} id=${`n-${i}`} data-row=${i} role="treeitem" aria-level=${level} aria-posinset=${position} aria-setsize=${size}
        aria-expanded=${open === undefined ? nothing : String(open)} aria-selected=${this.workspace.readOnly ? nothing : String(ticked === true)} aria-current=${node.id === opened?.id ? "page" : nothing}>
      <span class=${`twist ${open ? "open" : ""}`} data-do=${open === undefined ? nothing : "twist"} aria-hidden="true">${open === undefined ? "" : "▸"}</span>
      ${this.workspace.readOnly ? html`<span></span>` : html`<span class=${`tick ${ticked === true ? "on" : ticked ? "some" : ""} ${chosen.size ? "shown" : ""}`} data-do="tick" aria-hidden="true"></span>`}
      <a href=${node.href} tabindex="-1" title=${`${node.name} (${node.code})`}><bdi class="name">${node.name}</bdi> <bdi class="code">${node.name === node.code ? "" : node.code}</bdi></a>
      <span class="marks">${node.children ? html`<span class="mark">${number(stationsOf(node).length)}<span class="visually-hidden"> stations</span></span>` : nothing}${marks.map(([kind, sign, text]) => html`<span class=${`mark ${kind}`} title=${text}><span aria-hidden="true">${sign}</span><span class="visually-hidden">${text}</span></span>`)}</span>
    </div>`;
  }

  #marks(node) {
    const marks = [],
      change = changeOf(node, this.applied),
      problems = this.workspace.problemsBelow(node.path);
    if (isMeter(node)) marks.push(["kind", "Meter", "energy meter only"]);
    if (isScheduling(node)) marks.push(["kind", "Plan", "scheduling only"]);
    if (change)
      marks.push([
        "wait",
        change === "new" ? "+" : "●",
        change === "new" ? "new, not applied" : `${change}, not applied`,
      ]);
    if (problems) marks.push(["bad", "▲", count(problems, "problem")]);
    return marks;
  }

  // true, false, or "some" of a group.
  #isChosen(node) {
    if (!node.children) return this.chosen.has(node.code);
    if (this.chosen.size === 0) return false;
    const stations = stationsOf(node),
      n = stations.filter((s) => this.chosen.has(s.code)).length;
    return n > 0 && (n === stations.length || "some");
  }

  #choose(nodes, on) {
    if (this.workspace.readOnly) return; // what is chosen is to be changed
    const next = new Set(this.chosen);
    for (const node of nodes.flatMap(stationsOf))
      if (on) next.add(node.code);
      else next.delete(node.code);
    this.chosen = next;
    this.ctx.update();
  }

  // From where the last choice was made to here.
  #chooseTo(i) {
    const from = this.#rows.findIndex((r) => r.node.id === this.#anchor),
      [a, b] = from < 0 ? [i, i] : [Math.min(from, i), Math.max(from, i)];
    this.#choose(
      this.#rows
        .slice(a, b + 1)
        .map((r) => r.node)
        .filter((n) => !n.children),
      true,
    );
  }

  #toggle(i) {
    const { node } = this.#rows[i];
    this.#anchor = node.id;
    this.#choose([node], this.#isChosen(node) !== true);
  }

  #twist(row, closed = row.open) {
    if (this.search || this.filter) return; // finds are never hidden
    this.#close([row.node], closed);
    this.ctx.update();
  }

  #click(event) {
    const i = Number(event.target.closest("[data-row]")?.dataset.row),
      row = this.#rows[i];
    if (!row || event.ctrlKey || event.metaKey) return;
    const what = event.target.closest("[data-do]")?.dataset.do;
    event.preventDefault();
    this.#cursor = row.node.id;
    if (what === "twist") return this.#twist(row);
    if (event.shiftKey) return this.#chooseTo(i);
    if (what === "tick") return this.#toggle(i);
    this.#open(row.node);
  }

  #open(node) {
    this.ctx.navigate(node.href);
  }

  #focus() {
    if (!this.#rows.some((r) => r.node.id === this.#cursor)) this.#cursor = this.#rows[0]?.node.id ?? "";
    this.ctx.update();
  }

  #searchKey(event) {
    if (event.key === "ArrowDown") {
      event.preventDefault();
      this.#cursor = this.#rows[0]?.node.id ?? "";
      document.querySelector(".tree").focus();
    } else if (event.key === "Enter") {
      const first = this.#rows.find((r) => !r.node.children) ?? this.#rows[0];
      if (first) this.#open(first.node);
    } else if (event.key === "Escape" && this.search) {
      event.preventDefault();
      this.clear();
    }
  }

  #go(i) {
    const row = this.#rows[Math.max(0, Math.min(i, this.#rows.length - 1))];
    if (!row) return;
    this.#cursor = row.node.id;
    scrollTo(document.querySelector(".tree"), this.#rows.indexOf(row), rowHeight());
    this.ctx.update();
  }

  #key(event) {
    const at = this.#rows.findIndex((r) => r.node.id === this.#cursor),
      row = this.#rows[at],
      page = 10;
    if (!row) return;
    const steps = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: this.#rows.length - 1,
      PageDown: at + page,
      PageUp: at - page,
    };
    const control = event.ctrlKey || event.metaKey;
    if (event.altKey) return this.#alt(event, row.node);
    if (event.key in steps && !control) {
      if (event.shiftKey && !row.node.children && !this.#anchor) this.#anchor = row.node.id;
      this.#go(steps[event.key]);
      if (event.shiftKey) this.#chooseTo(this.#rows.findIndex((r) => r.node.id === this.#cursor));
    } else if (event.key === "ArrowRight") {
      if (row.open === false) this.#twist(row, false);
      else if (row.open && row.node.children.length) this.#go(at + 1);
    } else if (event.key === "ArrowLeft") {
      if (row.open && !this.search && !this.filter) this.#twist(row, true);
      else if (row.node.above) this.#go(this.#rows.findIndex((r) => r.node === row.node.above));
    } else if (event.key === "Enter") this.#open(row.node);
    else if (event.key === " " && !this.#typing()) this.#toggle(at);
    else if (event.key === "Escape") this.#choose(this.index.stations, false);
    else if (event.key.toLowerCase() === "a" && control)
      this.#choose(
        this.#rows.map((r) => r.node).filter((n) => !n.children),
        true,
      );
    else if (event.key.length === 1 && !control) this.#type(event.key, at);
    else return;
    event.preventDefault();
  }

  // Alt and an arrow put a node before or after its neighbour.
  #alt(event, node) {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    this.reorder?.(node, by);
  }

  #typing() {
    return this.#typed !== "" && performance.now() - this.#typedAt < 700;
  }

  // What is typed goes to the next row whose name or code starts so.
  #type(letter, at) {
    this.#typed = (this.#typing() ? this.#typed : "") + letter.toLowerCase();
    this.#typedAt = performance.now();
    const from = this.#typed.length > 1 ? at : at + 1,
      n = this.#rows.length;
    for (let i = 0; i < n; i++) {
      const k = (from + i) % n,
        { node } = this.#rows[k];
      if (node.name.toLowerCase().startsWith(this.#typed) || node.code.toLowerCase().startsWith(this.#typed))
        return this.#go(k);
    }
  }
}

/** stationsOf gives the stations below a node, or itself. */
export const stationsOf = (node) => (node.children ? node.children.flatMap(stationsOf) : [node]);
