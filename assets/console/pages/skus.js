// SKUs: a table of all, and one of them at a time.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { brief, whole } from "../../shared/brief.js";
import { confirm } from "../../shared/dialog.js";
import { insertIn, isEqual, setIn } from "../../shared/document.js";
import { duration, matches, number } from "../../shared/format.js";
import { table } from "../../shared/rows.js";
import { schemas } from "../../shared/schema.js";
import { codeField, entityFields, freeCode, withoutCodes } from "../entity.js";
import { listButtons } from "../lists/dialog.js";
import { rateField } from "../rate.js";

const list = ["account", "skus"];

export async function open(ctx) {
  const all = await schemas(),
    state = { search: "", by: "code", chosen: new Set(), path: ctx.path, ctx };
  const render = () => {
    const code = state.path[0],
      skus = ctx.workspace.doc.account.skus ?? [];
    const at = skus.findIndex((sku) => sku.code === code);
    if (code === undefined) return listing(ctx, state, skus);
    return at < 0 ? missing(code) : one(ctx, all, skus[at], at);
  };
  return {
    get title() {
      return state.path[0] ?? "SKUs";
    },
    render,
    changed: (now) => {
      state.path = now.path;
    },
  };
}

const missing = (code) =>
  html`<div class="page-head"><h1 dir="auto">${code}</h1></div><p class="empty">There is no SKU of this code. <a href="/console/skus">All SKUs</a></p>`;

function listing(ctx, state, skus) {
  const { workspace } = ctx,
    before = new Map((workspace.base.account.skus ?? []).map((sku) => [sku.code, sku]));
  const rows = state.search
    ? skus.filter((sku) => matches(state.search, sku.code, sku.name, sku.specifications ?? ""))
    : skus;
  const index = new Map(skus.map((sku, i) => [sku, i]));
  return html`
    <div class="page-head"><h1>SKUs</h1>
      <div class="row">${listButtons(ctx, "skus")}${
        workspace.readOnly
          ? nothing
          : html`
        ${state.chosen.size ? html`<button type="button" class="button" @click=${() => remove(ctx, state)}>Remove ${number(state.chosen.size)}</button>` : nothing}
        <button type="button" class="button primary" @click=${() => add(ctx, skus)}>Add an SKU</button>`
      }</div></div>
    <input type="search" class="search" aria-label="Search SKUs" placeholder="Search by code, name or specification" .value=${state.search} @input=${(
      e,
    ) => {
      state.search = e.target.value;
      ctx.update();
    }}>
    ${table({
      rows,
      state,
      changed: ctx.update,
      caption: "SKUs",
      key: (sku) => sku.code,
      empty: skus.length ? "Nothing is found." : "No SKU is defined yet.",
      open: (sku) => ctx.navigate(`/console/skus/${encodeURIComponent(sku.code)}`),
      selected: workspace.readOnly ? undefined : state.chosen,
      select: (keys) => {
        state.chosen = new Set(keys);
        ctx.update();
      },
      columns: [
        {
          name: "code",
          label: "Code",
          text: (sku) => sku.code,
          cell: (sku) =>
            html`<a href=${`/console/skus/${encodeURIComponent(sku.code)}`}>${brief(sku.code)}</a> ${mark(workspace, before.get(sku.code), sku, [...list, index.get(sku)])}`,
        },
        { name: "name", label: "Name", text: (sku) => sku.name },
        { name: "rate", label: "Rate", text: rate, cell: (sku) => html`<span class="whole">${rate(sku)}</span>` },
        {
          name: "partsPerCycle",
          label: "Parts per cycle",
          numeric: true,
          text: (sku) => sku.partsPerCycle,
          cell: (sku) => number(sku.partsPerCycle ?? 1),
        },
        { name: "value", label: "Value", numeric: true, text: (sku) => sku.value, cell: (sku) => number(sku.value) },
        {
          name: "where",
          label: "Runs on",
          text: where,
          cell: (sku) =>
            where(sku)
              .split(", ")
              .map((code, i) => html`${i ? ", " : nothing}${whole(code)}`),
        },
        { name: "quick", label: "Quick start", text: (sku) => (sku.allowUseInQuickSchedule ? "yes" : "") },
      ],
    })}`;
}

/** mark tells that an element is new, changed, or has problems. */
export function mark(workspace, before, now, path) {
  const problems = workspace.problemsBelow(path);
  return html`${!before ? html`<span class="chip plain">new</span>` : before !== now && !isEqual(before, now) ? html`<span class="chip plain">changed</span>` : nothing}
    ${problems ? html`<span class="state bad small">${problems === 1 ? "a problem" : `${problems} problems`}</span>` : nothing}`;
}

function rate(sku) {
  if (sku.cycleTime) return `${duration(sku.cycleTime)} a cycle`;
  if (sku.unitsPerMinute) return `${number(sku.unitsPerMinute)} a minute`;
  return sku.unitsPerHour ? `${number(sku.unitsPerHour)} an hour` : "";
}

function where(sku) {
  const all = [...(sku.stationGroupCodes ?? []), ...(sku.stationCodes ?? [])];
  if (!sku.stationCodes && !sku.stationGroupCodes) return "every station";
  return all.length === 0
    ? "no station"
    : all.length > 4
      ? `${all.slice(0, 4).join(", ")} and ${all.length - 4} more`
      : all.join(", ");
}

function add(ctx, skus, like) {
  const code = freeCode(skus, like?.code ?? "NEW-SKU");
  ctx.workspace.edit((doc) =>
    insertIn(doc, list, like ? { ...like, code, name: like.name } : { code, name: "New SKU", unitsPerMinute: 1 }),
  );
  ctx.navigate(`/console/skus/${encodeURIComponent(code)}`);
}

async function remove(ctx, state) {
  const codes = [...state.chosen];
  if (
    !(await confirm({
      title: `Remove ${codes.length === 1 ? codes[0] : `${codes.length} SKUs`}?`,
      text: "What was made of them stays in the history. It counts when you apply it.",
      action: "Remove",
      danger: true,
    }))
  )
    return;
  ctx.workspace.edit((doc) => withoutCodes(doc, list, codes));
  state.chosen = new Set();
  ctx.update();
}

function one(ctx, all, sku, at) {
  const path = [...list, at],
    { workspace } = ctx;
  const rename = (code) => {
    workspace.edit((doc) => setIn(doc, [...path, "code"], code));
    ctx.navigate(`/console/skus/${encodeURIComponent(code)}`, { replace: true });
  };
  return html`
    <div class="page-head"><div><a href="/console/skus">SKUs</a><h1>${brief(sku.name || sku.code)}</h1></div>
      ${
        workspace.readOnly
          ? nothing
          : html`<div class="row">
        <button type="button" class="button" @click=${() => add(ctx, workspace.doc.account.skus, sku)}>Duplicate</button>
        <button type="button" class="button" @click=${async () => {
          if (
            !(await confirm({
              title: `Remove ${sku.code}?`,
              text: "What was made of it stays in the history. It counts when you apply it.",
              action: "Remove",
              danger: true,
            }))
          )
            return;
          workspace.edit((doc) => withoutCodes(doc, list, [sku.code]));
          ctx.navigate("/console/skus");
        }}>Remove</button></div>`
      }</div>
    <section class="card stack"><h2>What it is</h2>${entityFields(ctx, all, "SKU", path, [codeField(sku.code, workspace.doc.account.skus, rename), "name", "specifications", "instructionsUrl", "value"])}</section>
    <section class="card stack"><h2>How fast it is made</h2>${rateField(ctx, all, "SKU", path)}
      ${entityFields(ctx, all, "SKU", path, ["partsPerCycle", "minimumCycleTime", "lineSpeedTarget", "downtimeDurationThresholdMultiplier"])}</section>
    <section class="card stack"><h2>Where and how it is run</h2>${entityFields(ctx, all, "SKU", path, ["stationCodes", "stationGroupCodes", "taskCodes", "allowUseInQuickSchedule"])}</section>`;
}
