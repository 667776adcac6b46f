// What holds at a station: in force now, as the service says, and after the draft is applied.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { brief } from "../../shared/brief.js";
import { isEqual } from "../../shared/document.js";
import { count, matches } from "../../shared/format.js";
import { labelOf, wordOf } from "../../shared/terms.js";
import { accountFlags, groupFlags, levelFlags, resolve } from "./resolve.js";
import { triggerWords } from "../tasks/trigger.js";
import { week } from "../week.js";

/** levelWord names the level that decided something. */
export const levelWord = (from) =>
  ({ default: "by default", account: "account", plant: "plant", group: "group", station: "station" })[from] ?? from;

/** resolved shows a station. now: the service's answer, null for a station that is not applied yet, undefined while it is asked. */
export function resolved(ctx, page, node, now) {
  if (now === undefined) return html`<p class="muted" role="status">Loading …</p>`;
  const next = ctx.workspace.dirty ? resolve(node, ctx.workspace.doc.account) : null,
    shown = now ?? next ?? resolve(node, ctx.workspace.doc.account);
  const after = next && now ? next : null,
    differs = after && !isEqual(plain(now), plain(after));
  return html`<div class="stack">
    ${
      !now
        ? html`<p class="notice wait"><strong>This station is not applied yet.</strong> This is what will hold at it.</p>`
        : differs
          ? html`<p class="notice wait"><strong>Changes that are not applied change what holds here.</strong> What is in force now comes first; <ins class="after">what it will be</ins> is marked.</p>`
          : html`<p class="muted">In force now${ctx.workspace.dirty ? ". The changes that are not applied do not change it" : ""}.</p>`
    }
    ${flagTable(shown, after)}
    <div class="cards">
      ${section("Shift pattern", patterns(shown, after))}
      ${section("Task lists", listed(shown.taskLists, after?.taskLists, taskList(ctx, node.plant.item.timezone), "No Task list: none is included at any level."))}
    </div>
    <div class="cards">
      ${section("Reasons", reasonTree(shown.reasons, after?.reasons))}
      ${section("SKUs that can run here", skuList(ctx, page, shown.skus, after?.skus))}
    </div></div>`;
}

const plain = ({ flags, reasons, taskLists, shiftPattern, skus }) => ({
  flags,
  reasons,
  taskLists: taskLists.map((l) => [l.code, l.tasks.map((t) => t.code)]),
  pattern: shiftPattern && [shiftPattern.code, shiftPattern.from, shiftPattern.shifts],
  skus,
});

const section = (title, body) =>
  html`<section class="card stack" aria-label=${title}><h2>${title}</h2>${body}</section>`;

const changed = (before, after) =>
  html`<span class="difference"><span>${before}</span>${after === null ? nothing : html`<span aria-hidden="true">→</span><ins class="after"><span class="visually-hidden">will be </span>${after}</ins>`}</span>`;

function flagTable(now, after) {
  const names = [...levelFlags, ...groupFlags, ...accountFlags];
  const word = ({ value }) => html`<span class=${`flag-word ${value}`}>${wordOf(value)}</span>`;
  return section(
    "Features",
    html`<div class="table-wrap" tabindex="0" role="region" aria-label="Features"><table class="table narrow">
    <thead><tr><th scope="col">Feature</th><th scope="col">Value</th><th scope="col">Decided by</th></tr></thead>
    <tbody>${names.map((name) => {
      const a = now.flags[name],
        b = after?.flags[name] ?? a;
      return html`<tr class=${isEqual(a, b) ? "" : "differs"}><th scope="row">${labelOf(name)}</th><td>${changed(word(a), a.value === b.value ? null : word(b))}</td>
        <td>${changed(levelWord(a.from), a.from === b.from ? null : levelWord(b.from))}</td></tr>`;
    })}</tbody></table></div>`,
  );
}

function patterns(now, after) {
  const one = (pattern) =>
    pattern
      ? html`<p><strong>${brief(pattern.title)}</strong> <span class="muted">(${pattern.code}, from the ${pattern.from})</span></p>${week({ shifts: pattern.shifts })}`
      : html`<p>None: it is always in shift.</p>`;
  const before = now.shiftPattern,
    next = after && !isEqual(strip(after.shiftPattern), strip(before)) ? after.shiftPattern : undefined;
  return html`${one(before)}${next === undefined ? nothing : html`<div class="after stack"><p><ins>After applying:</ins></p>${one(next)}</div>`}`;
}

const strip = (pattern) =>
  pattern && { code: pattern.code, title: pattern.title, from: pattern.from, shifts: pattern.shifts };

// Items that stay, go and come, in one list.
function merged(now, after) {
  if (!after) return now.map((item) => ({ item, mark: "" }));
  const next = new Map(after.map((e) => [e.code, e])),
    before = new Set(now.map((e) => e.code));
  return [
    ...now.map((item) => ({ item, next: next.get(item.code), mark: next.has(item.code) ? "" : "gone" })),
    ...after.filter((e) => !before.has(e.code)).map((item) => ({ item, next: item, mark: "come" })),
  ];
}

const markText = {
  "": nothing,
  gone: html` <span class="tag bad">− goes</span>`,
  come: html` <span class="tag ok">+ comes</span>`,
};

function listed(now, after, show, empty) {
  const all = merged(now, after);
  return all.length
    ? html`<ul class="plain-list">${all.map(({ item, next, mark }) => html`<li>${show(item, mark, next)}</li>`)}</ul>`
    : html`<p class="muted">${empty}</p>`;
}

const taskList =
  (ctx, zone) =>
  (
    list,
    mark,
    next,
  ) => html`<strong>${brief(list.name)}</strong> <span class="muted">${list.code}${list.trigger ? `, ${triggerWords(ctx, list.trigger, zone)}` : ""}</span>${markText[mark]}
  ${list.tasks.length ? html`<ol class="tasks">${merged(list.tasks, mark === "" && next ? next.tasks : null).map(({ item, mark: m }) => html`<li>${brief(item.title)}${item.requireNotes ? html` <span class="muted small">notes required</span>` : nothing}${markText[m]}</li>`)}</ol>` : html`<p class="muted small">No Tasks are in it.</p>`}`;

function reasonTree(now, after) {
  const all = merged(now, after);
  if (all.length === 0) return html`<p class="muted">None</p>`;
  return html`<ul class="reasons">${all.map(
    ({
      item,
      next,
      mark,
    }) => html`<li><span class=${item.heading ? "muted" : ""}>${brief(item.name ?? item.code)}</span> <span class="muted small">${item.code}${item.heading ? ", heading only" : ""}</span>${markText[mark]}
    ${item.reasons.length || next?.reasons.length ? reasonTree(item.reasons, mark === "" && next ? next.reasons : null) : nothing}</li>`,
  )}</ul>`;
}

const skusShown = 100;

function skuList(ctx, page, now, after) {
  const all = merged(now, after),
    found = all.filter(({ item }) => matches(page.skuSearch, item.code, item.name));
  return html`<p class="muted">${count(now.length, "SKU")}${after ? ` now, ${after.length} after applying` : ""}</p>
    ${
      all.length > 12
        ? html`<input type="search" aria-label="Find a SKU" placeholder="Find a SKU" .value=${page.skuSearch} @input=${(
            e,
          ) => {
            page.skuSearch = e.target.value;
            ctx.update();
          }}>`
        : nothing
    }
    <ul class="sku-list">${found.slice(0, skusShown).map(({ item, mark }) => html`<li><a href=${`/console/skus/${encodeURIComponent(item.code)}`}><bdi>${item.code}</bdi></a> ${brief(item.name)}${markText[mark]}</li>`)}</ul>
    ${found.length > skusShown ? html`<p class="muted small">${found.length - skusShown} more: search to narrow down.</p>` : nothing}`;
}
