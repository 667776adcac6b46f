// Two stations side by side: settings, features, reasons, Task lists and SKUs, with what differs marked and copied on demand.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { brief, cut } from "../../shared/brief.js";
import { isEqual } from "../../shared/document.js";
import { toast } from "../../shared/dialog.js";
import { field } from "../../shared/form.js";
import { count } from "../../shared/format.js";
import { labelOf, wordOf } from "../../shared/terms.js";
import { stationOptions } from "../choices.js";
import { showValue } from "../differences.js";
import { setFields } from "./edit.js";
import { namesOf, rateNames } from "./fields.js";
import { ownFlag } from "./flags.js";
import { groupFlags, levelFlags, resolve } from "./resolve.js";
import { levelWord } from "./resolved.js";
import { indexOf } from "./tree.js";

const copied = new Set(namesOf("station").filter((name) => name !== "name" && name !== "description"));
const options = new WeakMap(); // of a document

function othersOf(doc, node) {
  if (!options.has(doc)) options.set(doc, stationOptions(doc));
  return options.get(doc).filter((o) => o.value !== node.code);
}

/** compare shows a station beside another one, whose code is withCode. page.take: names that are ticked to be copied. */
export function compare(ctx, page, node, withCode) {
  const index = indexOf(ctx.workspace.doc),
    other = index.byCode.get(withCode);
  const choose = (codes) => {
    page.take = new Set();
    ctx.navigate(`${node.href}?view=compare${codes?.length ? `&with=${encodeURIComponent(codes.at(-1))}` : ""}`, {
      replace: true,
    });
  };
  return html`<div class="stack">
    <section class="card compare-with">${field({ name: "with", id: "compare-with", label: "Compare with", kind: "codes", single: true, placeholder: "Find a station", value: other ? [other.code] : null, options: othersOf(ctx.workspace.doc, node), hint: "By code, name, group or plant.", change: choose })}
      ${
        other
          ? html`<label class="check"><input type="checkbox" .checked=${page.onlyDifferences} @change=${(e) => {
              page.onlyDifferences = e.target.checked;
              ctx.update();
            }}><span>Differences only</span></label>`
          : nothing
      }</section>
    ${other ? tables(ctx, page, node, other) : html`<p class="empty">Choose a station to see both side by side.</p>`}</div>`;
}

function rowsOf(node, other, account) {
  const a = resolve(node, account),
    b = resolve(other, account),
    own = (item, name) => item[name] ?? null;
  const codes = (list) => list.flatMap((r) => [...(r.heading ? [] : [r.code]), ...codes(r.reasons ?? [])]);
  const flag = ({ value, from }) => html`${wordOf(value)} <span class="muted small">${levelWord(from)}</span>`;
  const settings = [...copied, "description"].map((name) => ({
    group: "Settings",
    name,
    label: labelOf(name),
    a: own(node.item, name),
    b: own(other.item, name),
    show: (v) => (name === "description" && v ? brief(v) : showValue(v, name)),
    take: copied.has(name),
  }));
  const flags = [...levelFlags, ...groupFlags].map((name) => ({
    group: "Features",
    name,
    label: labelOf(name),
    a: a.flags[name],
    b: b.flags[name],
    show: flag,
    take: ownFlag(node.item, name) !== ownFlag(other.item, name),
  }));
  const set = (label, x, y) => ({ group: "What holds", name: label, label, a: x, b: y, set: true });
  return [
    ...settings,
    ...flags,
    {
      group: "What holds",
      name: "pattern",
      label: "Shift pattern",
      a: a.shiftPattern?.code ?? null,
      b: b.shiftPattern?.code ?? null,
      show: (v) => showValue(v),
    },
    set("Reasons", codes(a.reasons), codes(b.reasons)),
    set(
      "Task lists",
      a.taskLists.map((l) => l.code),
      b.taskLists.map((l) => l.code),
    ),
    set(
      "SKUs",
      a.skus.map((s) => s.code),
      b.skus.map((s) => s.code),
    ),
  ];
}

const setShown = 40;

function onlyIn(list, other) {
  const there = new Set(other),
    mine = list.filter((code) => !there.has(code));
  return html`${count(list.length, "code")}${mine.length ? html`<br><span class="muted small">only here: <bdi>${mine.slice(0, setShown).join(", ")}${mine.length > setShown ? `, and ${mine.length - setShown} more` : ""}</bdi></span>` : nothing}`;
}

function tables(ctx, page, node, other) {
  const rows = rowsOf(node, other, ctx.workspace.doc.account).map((row) => ({
    ...row,
    differs: !isEqual(row.a, row.b),
  }));
  const differ = rows.filter((r) => r.differs),
    shown = page.onlyDifferences ? differ : rows,
    can = (r) => r.take && (r.differs || r.group === "Features") && !ctx.workspace.readOnly;
  const all = differ.filter(can).map((r) => r.name),
    ticked = all.filter((name) => page.take.has(name));
  const tick = (name, on) => {
    const next = new Set(page.take);
    if (on) next.add(name);
    else next.delete(name);
    page.take = next;
    ctx.update();
  };
  return html`<div class="spread"><p role="status">${differ.length ? count(differ.length, "difference") : "There is no difference."}</p>
      ${
        all.length
          ? html`<span class="row"><button type="button" class="button" @click=${() => {
              page.take = new Set(ticked.length === all.length ? [] : all);
              ctx.update();
            }}>${ticked.length === all.length ? "Tick none" : "Tick all"}</button>
        <button type="button" class="button primary" ?disabled=${ticked.length === 0} @click=${() => take(ctx, page, node, other, ticked)}>Copy ${ticked.length || ""} from <bdi title=${other.name}>${cut(other.name)}</bdi></button></span>`
          : nothing
      }</div>
    ${
      shown.length
        ? html`<div class="table-wrap" tabindex="0" role="region" aria-label="Comparison"><table class="table compare">
      <thead><tr><th scope="col" class="tick"><span class="visually-hidden">Copy</span></th><th scope="col">What</th><th scope="col"><bdi>${node.name}</bdi></th><th scope="col"><bdi>${other.name}</bdi></th></tr></thead>
      ${["Settings", "Features", "What holds"].map(
        (
          group,
        ) => html`<tbody>${shown.some((r) => r.group === group) ? html`<tr><th scope="rowgroup" colspan="4" class="group">${group}</th></tr>` : nothing}
        ${shown
          .filter((r) => r.group === group)
          .map(
            (r) => html`<tr class=${r.differs ? "differs" : ""}>
          <td class="tick">${r.differs && can(r) ? html`<input type="checkbox" aria-label=${`Copy ${r.label}`} .checked=${page.take.has(r.name)} @change=${(e) => tick(r.name, e.target.checked)}>` : nothing}</td>
          <th scope="row">${r.label}${r.differs ? html` <span class="sign" title="different" aria-hidden="true">≠</span><span class="visually-hidden">, different</span>` : nothing}</th>
          <td>${r.set ? onlyIn(r.a, r.b) : r.show(r.a)}</td><td>${r.set ? onlyIn(r.b, r.a) : r.show(r.b)}</td></tr>`,
          )}</tbody>`,
      )}
    </table></div>`
        : nothing
    }
    <p class="muted small">Both are shown as the draft has them. What differs because the groups or plants differ is changed there, or by a value of the station's own.</p>`;
}

function take(ctx, page, node, other, ticked) {
  const names = ticked.some((name) => rateNames.includes(name)) ? [...new Set([...ticked, ...rateNames])] : ticked; // a station has one rate
  const values = Object.fromEntries(
    names.map((name) => [
      name,
      name.startsWith("enable") && ownFlag(other.item, name) === "inherit" ? null : (other.item[name] ?? null),
    ]),
  );
  ctx.workspace.edit((doc) => setFields(doc, ctx.workspace.base, [node], values));
  page.take = new Set();
  toast(`${count(ticked.length, "setting")} copied from ${other.name}.`);
}
