// Plants and stations: the tree at the side, and the page of what is opened in it.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { connection, get } from "../../shared/api.js";
import { brief, cut } from "../../shared/brief.js";
import { sentence } from "../../shared/dialog.js";
import { ago, count, number } from "../../shared/format.js";
import { schemas } from "../../shared/schema.js";
import { listButtons } from "../lists/dialog.js";
import { compare } from "../plants/compare.js";
import {
  addGroup,
  addPlant,
  addStation,
  changeCode,
  duplicate,
  isNew,
  moveNodes,
  removeNodes,
} from "../plants/dialogs.js";
import { insert, shift } from "../plants/edit.js";
import { resolved } from "../plants/resolved.js";
import { settings } from "../plants/settings.js";
import { Side } from "../plants/side.js";
import { together } from "../plants/together.js";
import { changeOf, indexOf, isMeter, isScheduling, nodeAt } from "../plants/tree.js";

const side = new Side();

/** How often a station's status is asked for while its page is shown, in milliseconds. */
const statusEvery = 15000;

export async function open(ctx) {
  const page = new Page(ctx, await schemas());
  page.changed(ctx);
  return page;
}

class Page {
  bulk = new Map();
  take = new Set();
  onlyDifferences = true;
  skuSearch = "";
  #answers = new Map(); // station code -> {revision, now, error}
  #status = null;
  #timer = 0;

  constructor(ctx, schemas) {
    Object.assign(this, { ctx, schemas });
  }

  get title() {
    return this.node?.name ?? "Plants and stations";
  }
  get node() {
    return this.ctx.path.length ? nodeAt(indexOf(this.ctx.workspace.doc), this.ctx.path) : null;
  }

  changed(ctx) {
    const before = this.code;
    this.ctx = ctx;
    this.view = ctx.query.get("view") ?? "";
    this.code = ctx.path.length === 3 ? ctx.path[2] : "";
    if (this.code === before) return;
    Object.assign(this, { take: new Set(), skuSearch: "" });
    this.#status = null;
    this.#watch();
  }

  leave() {
    clearTimeout(this.#timer);
    this.code = "";
  }

  // The status is a small note: where it cannot be had the page is whole without it.
  async #watch() {
    clearTimeout(this.#timer);
    const { code } = this;
    if (!code) return;
    if (document.visibilityState === "visible" && indexOf(this.ctx.workspace.base).byCode.has(code)) {
      const status = await get(`/station?stationcodes=${encodeURIComponent(code)}`).then(
        (body) => body.results[0] ?? null,
        () => null,
      );
      if (code !== this.code) return;
      this.#status = status;
      this.ctx.update();
    }
    this.#timer = setTimeout(() => this.#watch(), statusEvery);
  }

  // What the service says of a station, of the revision that the draft starts from: {now, error}; now is null where it knows
  // none, and undefined while it is asked.
  #answer(node) {
    const { revision, base } = this.ctx.workspace;
    if (!indexOf(base).byCode.has(node.code)) return { now: null };
    const known = this.#answers.get(node.code);
    if (known?.revision === revision && !(known.error?.away && connection.up)) return known;
    const answer = { revision, now: known?.now, error: null };
    this.#answers.set(node.code, answer);
    get(`/station/${encodeURIComponent(node.code)}`)
      .then(
        (body) => {
          answer.now = body.result;
        },
        (error) => {
          answer.error = error;
        },
      )
      .then(() => this.ctx.update());
    return answer;
  }

  #resolved(node) {
    const { now, error } = this.#answer(node);
    if (!error) return resolved(this.ctx, this, node, now);
    return html`<div class="notice bad" role="alert"><strong>What holds here cannot be told.</strong> ${sentence(error)}
      <p><button type="button" class="button" @click=${() => {
        this.#answers.delete(node.code);
        this.ctx.update();
      }}>Try again</button></p></div>`;
  }

  render() {
    const { ctx, node } = this;
    side.reorder = (at, by) => ctx.workspace.edit((doc) => shift(doc, at, by));
    return html`<div class=${`plants ${node || this.view ? "" : "at-tree"}`}>${side.show(ctx, node)}
      <div class="plants-page">${this.#content(node)}</div></div>`;
  }

  #content(node) {
    if (this.view === "together" && !this.ctx.workspace.readOnly) return together(this.ctx, this, side);
    if (!node && this.ctx.path.length) return this.#missing();
    if (!node) return this.#account();
    return html`${this.#head(node)}${node.kind === "station" ? this.#station(node) : html`${this.#removed(node)}${this.#children(node)}${settings(this.ctx, this.schemas, node)}`}`;
  }

  #missing() {
    const gone = this.ctx.path.at(-1),
      found = this.ctx.path.length === 3 ? indexOf(this.ctx.workspace.doc).byCode.get(gone) : null;
    return html`<div class="page-head"><h1>Plants and stations</h1></div><div class="notice wait"><strong><bdi>${gone}</bdi> is not here.</strong>
      ${found ? html`The station is in another group: <a href=${found.href}><bdi>${found.name}</bdi></a>.` : "It was removed, or has another code. What was removed and not applied comes back with Undo."}</div>`;
  }

  #account() {
    const { ctx } = this,
      { plants, stations } = indexOf(ctx.workspace.doc),
      limit = ctx.workspace.doc.account.stationCountLimit;
    return html`<div class="page-head"><h1>Plants and stations</h1><span class="row">${listButtons(ctx, "stations")}${ctx.workspace.readOnly ? nothing : html`<button type="button" class="button primary" @click=${() => addPlant(ctx, this)}>Add a plant</button>`}</span>
        <p>${count(stations.length, "station")} in ${count(plants.length, "plant")}${limit ? `; the limit is ${number(limit)}` : ""}. Choose one in the tree to see and change it.</p></div>
      ${limit && stations.length > limit ? html`<p class="notice wait">There are more stations than the limit of ${number(limit)}: this cannot be applied.</p>` : nothing}
      <div class="cards">${plants.map(
        (
          plant,
        ) => html`<section class="card stack"><div class="spread"><h2><a href=${plant.href}>${brief(plant.name)}</a></h2><span class="muted">${plant.item.timezone}</span></div>
        <ul class="plain-list">${plant.children.map((group) => html`<li class="spread"><a href=${group.href}>${brief(group.name)}</a> <span class="muted">${count(group.children.length, "station")}</span></li>`)}</ul></section>`,
      )}</div>`;
  }

  #head(node) {
    const change = changeOf(node, indexOf(this.ctx.workspace.base)),
      problems = this.ctx.workspace.problemsBelow(node.path);
    return html`<nav class="crumbs" aria-label="Where this is"><a href="/console/plants">All plants</a>${[node.plant, node.group].filter(Boolean).map((n) => html` <span aria-hidden="true">›</span> <a href=${n.href}><bdi title=${n.name}>${cut(n.name)}</bdi></a>`)}</nav>
      <div class="page-head"><div class="node-title"><h1>${brief(node.name)}</h1>
        <span class="row"><code>${node.code}</code>
          ${isMeter(node) ? html`<span class="tag">Energy meter only</span>` : nothing}${isScheduling(node) ? html`<span class="tag">Scheduling only</span>` : nothing}
          ${change ? html`<span class="tag wait">${change === "new" ? "New" : change === "moved" ? "Moved" : "Changed"}, not applied</span>` : nothing}
          ${problems ? html`<span class="tag bad">${count(problems, "problem")}</span>` : nothing}
          ${node.kind === "station" ? statusNote(this.#status) : nothing}</span></div>
        ${this.ctx.workspace.readOnly ? nothing : this.#actions(node)}</div>`;
  }

  #actions(node) {
    const { ctx } = this,
      move = (by) => ctx.workspace.edit((doc) => shift(doc, node, by)),
      siblings = node.above?.children ?? indexOf(ctx.workspace.doc).plants,
      at = node.at.at(-1);
    const remove = async () => {
      if (await removeNodes(ctx, [node])) ctx.navigate(node.above?.href ?? "/console/plants");
    };
    const elsewhere = async () => {
      const target = await moveNodes(ctx, [node]);
      if (target) ctx.navigate(`${target.href}/${encodeURIComponent(node.code)}`);
    };
    const button = (label, act, more = {}) =>
      html`<button type="button" class=${more.class ?? "button small"} ?disabled=${more.disabled} aria-label=${more.name ?? nothing} title=${more.name ?? nothing} @click=${act}>${label}</button>`;
    return html`<div class="row node-actions">
      ${node.kind === "plant" ? button("Add a group", () => addGroup(ctx, this, node)) : nothing}
      ${node.kind === "group" ? button("Add a station", () => addStation(ctx, this, node)) : nothing}
      ${node.kind === "station" ? html`${button("Duplicate", () => duplicate(ctx, this, node))}${button("Move …", elsewhere)}` : nothing}
      ${button("↑", () => move(-1), { name: "Move up in the list", disabled: at === 0 })}${button("↓", () => move(1), { name: "Move down in the list", disabled: at === siblings.length - 1 })}
      ${node.kind !== "station" || isNew(ctx, node) ? button("Change code …", () => changeCode(ctx, this, node)) : nothing}
      ${button("Remove …", remove)}</div>`;
  }

  // What the draft takes out of a plant or group that is applied, to be put back.
  #removed(node) {
    const { workspace } = this.ctx,
      before = indexOf(workspace.base).byId.get(node.id),
      now = indexOf(workspace.doc);
    const gone = before?.item === node.item ? [] : (before?.children ?? []).filter((child) => !now.byId.has(child.id));
    if (gone.length === 0) return nothing;
    return html`<section class="card stack" aria-label="Removed"><div><h2>Removed, not applied</h2><p class="muted small">What else named it is not put back here; Undo does that too.</p></div><ul class="plain-list">${gone
      .slice(0, 100)
      .map(
        (
          child,
        ) => html`<li class="spread"><span><bdi>${child.name}</bdi> <span class="muted">${child.code}</span></span>
      ${workspace.readOnly ? nothing : html`<button type="button" class="button small" @click=${() => workspace.edit((doc) => insert(doc, node, child.item, child.at.at(-1)))}>Put back</button>`}</li>`,
      )}</ul></section>`;
  }

  #children(node) {
    const one = (child) =>
      html`<li class="spread"><span><a href=${child.href}>${brief(child.name)}</a> <span class="muted">${child.code}</span></span><span class="muted small">${child.children ? count(child.children.length, "station") : isMeter(child) ? "meter" : isScheduling(child) ? "scheduling only" : ""}</span></li>`;
    return html`<details class="card stations-of"><summary><strong>${node.kind === "plant" ? count(node.children.length, "group") : count(node.children.length, "station")}</strong></summary>
      <ul class="plain-list">${node.children.slice(0, 200).map(one)}</ul>${node.children.length > 200 ? html`<p class="muted small">and ${number(node.children.length - 200)} more, in the tree</p>` : nothing}</details>`;
  }

  #station(node) {
    const tabs = [
        ["", "Settings"],
        ["resolved", "What holds here"],
        ["compare", "Compare"],
      ],
      { ctx, view } = this;
    return html`<nav class="tabs" aria-label="Views of the station">${tabs.map(([name, label]) => html`<a href=${name ? `${node.href}?view=${name}` : node.href} aria-current=${view === name ? "page" : nothing}>${label}</a>`)}</nav>
      ${view === "resolved" ? this.#resolved(node) : view === "compare" ? compare(ctx, this, node, ctx.query.get("with")) : settings(ctx, this.schemas, node)}`;
  }
}

const statusWords = {
  disconnected: ["Disconnected", "bad"],
  manualDowntime: ["Manual downtime", "bad"],
  downtime: ["Downtime", "bad"],
  nonProduction: ["Planned non-production", ""],
  slow: ["Slow", "wait"],
  productive: ["Productive", "ok"],
  idle: ["Idle", "wait"],
  unscheduled: ["Unscheduled", ""],
  outOfShift: ["Out of shift", ""],
};

function statusNote(status) {
  if (!status?.statusCode) return nothing;
  const [word, kind] = status.noSignalYet
    ? ["No signal yet", "wait"]
    : (statusWords[status.statusCode] ?? [status.statusCode, ""]);
  return html`<span class=${`state small ${kind}`} title="What the station does now">${word}${status.statusCodeUpdatedAt ? html` <span class="muted">since ${ago(status.statusCodeUpdatedAt).replace(" ago", "")}</span>` : nothing}</span>`;
}
