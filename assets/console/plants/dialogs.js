// Adding, duplicating, renaming, moving and removing plants, groups and stations.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { confirm, openDialog, toast } from "../../shared/dialog.js";
import { isEqual } from "../../shared/document.js";
import { field } from "../../shared/form.js";
import { count, matches } from "../../shared/format.js";
import { propertyOf } from "../../shared/schema.js";
import { zoneOptions } from "../choices.js";
import { below, copyOf, find, freeCode, insert, move, references, remove, rename } from "./edit.js";
import { kindSchema } from "./fields.js";
import { resolve } from "./resolve.js";
import { indexOf } from "./tree.js";

// What is wrong with a code, in a sentence; "" for nothing.
function codeProblem(page, kind, code, taken) {
  const schema = propertyOf(page.schemas, kindSchema[kind], "code");
  if (!code) return "is required";
  const least = schema.minLength ?? 0,
    most = schema.maxLength ?? Infinity;
  if (schema.pattern && !new RegExp(schema.pattern).test(code))
    return kind === "plant"
      ? "may have lower-case letters, digits and hyphens only"
      : "may have letters without accents, digits, hyphens and underscores only";
  if ([...code].length < least || [...code].length > most)
    return `must be ${least} to ${most} characters; it has ${[...code].length}`;
  if (taken) return kind === "group" ? "is the code of another group of this plant" : `is the code of another ${kind}`;
  return "";
}

function isTaken(doc, kind, above, code) {
  const index = indexOf(doc);
  if (kind === "station") return index.byCode.has(code);
  return (kind === "plant" ? index.plants : (find(doc, above)?.children ?? [])).some((n) => n.code === code);
}

const nameProblem = (name, most = Infinity) =>
  !name
    ? "is required"
    : [...name].length > most
      ? `must be ${most} characters or fewer; it has ${[...name].length}`
      : "";

/**
 * form asks for fields in a dialog and gives them, undefined when it is left. fields: [{name, label, kind, value, options, hint,
 * schema, check(value, values)}]; nothing is given while one has a problem.
 */
function form({ title, intro, fields, action }) {
  const values = Object.fromEntries(fields.map((f) => [f.name, f.value ?? null])),
    touched = new Set();
  const problems = () => Object.fromEntries(fields.map((f) => [f.name, f.check?.(values[f.name], values) ?? ""]));
  return openDialog((control) => {
    const found = problems();
    const submit = (event) => {
      event.preventDefault();
      document.activeElement?.blur?.(); // a field tells its value when it is left
      fields.forEach((f) => touched.add(f.name));
      if (Object.values(problems()).some(Boolean)) return control.update();
      control.close({ ...values });
    };
    return {
      title,
      body: html`${intro ?? nothing}<form id="node-form" class="stack" novalidate @submit=${submit}>${fields.map(
        (f, i) =>
          field({
            ...f,
            id: `new-${f.name}`,
            label: f.label,
            value: values[f.name],
            required: Boolean(f.check),
            autofocus: i === 0,
            problem: touched.has(f.name) && found[f.name] ? `${f.label} ${found[f.name]}` : "",
            change: (value) => {
              values[f.name] = value;
              touched.add(f.name);
              control.update();
            },
          }),
      )}</form>`,
      actions: html`<button type="button" class="button" @click=${() => control.close()}>Cancel</button><button type="submit" form="node-form" class="button primary">${action}</button>`,
    };
  });
}

function stationFields(ctx, page, code, name) {
  const { doc } = ctx.workspace;
  return [
    {
      name: "code",
      label: "Station code",
      kind: "text",
      value: code,
      hint: "1 to 32 letters, digits, hyphens and underscores. It cannot be changed once it is applied: history is kept under it.",
      check: (v) => codeProblem(page, "station", v, isTaken(doc, "station", null, v)),
    },
    {
      name: "name",
      label: "Station name",
      kind: "text",
      value: name,
      hint: "Up to 32 characters.",
      check: (v) => nameProblem(v, 32),
    },
  ];
}

const groupFields = (ctx, page, plant, code = "", name = "") => [
  {
    name: "groupCode",
    label: "Group code",
    kind: "text",
    value: code,
    hint: "Unique within the plant.",
    check: (v) => codeProblem(page, "group", v, plant && isTaken(ctx.workspace.doc, "group", plant, v)),
  },
  { name: "groupName", label: "Group name", kind: "text", value: name, check: (v) => nameProblem(v) },
];

const go = (ctx, ...codes) => ctx.navigate(`/console/plants/${codes.map(encodeURIComponent).join("/")}`);

/** addStation asks for a new station of a group and opens it. */
export async function addStation(ctx, page, group) {
  const last = group.children.at(-1);
  const values = await form({
    title: `Add a station to ${group.name}`,
    fields: stationFields(ctx, page, last ? freeCode(ctx.workspace.doc, last.code) : "", ""),
    action: "Add station",
  });
  if (!values) return;
  ctx.workspace.edit((doc) => insert(doc, group, { code: values.code, name: values.name }));
  go(ctx, group.plant.code, group.code, values.code);
}

/** addGroup asks for a new group of a plant, with its first station. */
export async function addGroup(ctx, page, plant) {
  const values = await form({
    title: `Add a group to ${plant.name}`,
    intro: html`<p class="muted">A group has at least one station.</p>`,
    fields: [...groupFields(ctx, page, plant), ...stationFields(ctx, page, "", "")],
    action: "Add group",
  });
  if (!values) return;
  ctx.workspace.edit((doc) =>
    insert(doc, plant, {
      code: values.groupCode,
      name: values.groupName,
      stations: [{ code: values.code, name: values.name }],
    }),
  );
  go(ctx, plant.code, values.groupCode);
}

/** addPlant asks for a new plant, with its first group and station. */
export async function addPlant(ctx, page) {
  const { doc } = ctx.workspace,
    index = indexOf(doc),
    zone = index.plants[0]?.item.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const values = await form({
    title: "Add a plant",
    intro: html`<p class="muted">A plant has at least one group with one station.</p>`,
    action: "Add plant",
    fields: [
      {
        name: "plantCode",
        label: "Plant code",
        kind: "text",
        hint: "3 to 55 lower-case letters, digits and hyphens.",
        check: (v) => codeProblem(page, "plant", v, isTaken(doc, "plant", null, v)),
      },
      { name: "plantName", label: "Plant name", kind: "text", check: (v) => nameProblem(v) },
      {
        name: "timezone",
        label: "Time zone",
        options: zoneOptions(doc),
        value: zone,
        check: (v) => (v ? "" : "is required"),
      },
      ...groupFields(ctx, page, null),
      ...stationFields(ctx, page, "", ""),
    ],
  });
  if (!values) return;
  const group = {
    code: values.groupCode,
    name: values.groupName,
    stations: [{ code: values.code, name: values.name }],
  };
  ctx.workspace.edit((doc) =>
    insert(doc, null, {
      code: values.plantCode,
      name: values.plantName,
      timezone: values.timezone,
      dayStartHour: 0,
      weekStartDay: 0,
      stationGroups: [group],
    }),
  );
  go(ctx, values.plantCode);
}

/** duplicate asks for the code and name of a copy of a station and puts it after the original. */
export async function duplicate(ctx, page, node) {
  const values = await form({
    title: `Duplicate ${node.name}`,
    intro: html`<p class="muted">The copy has all settings of <bdi>${node.name}</bdi>. SKUs that name single stations do not name the copy.</p>`,
    fields: stationFields(ctx, page, freeCode(ctx.workspace.doc, node.code), node.name),
    action: "Duplicate",
  });
  if (!values) return;
  ctx.workspace.edit((doc) => insert(doc, node.group, copyOf(node.item, values), node.at[2] + 1));
  go(ctx, node.plant.code, node.group.code, values.code);
}

/** isNew tells whether a node is not in the applied configuration; only then a station's code can be changed. */
export const isNew = (ctx, node) => !indexOf(ctx.workspace.base).byId.has(node.id);

/** changeCode asks for another code of a node. */
export async function changeCode(ctx, page, node) {
  const { doc } = ctx.workspace,
    refs = references(doc, [node]),
    fresh = isNew(ctx, node);
  const warning = {
    station: "",
    group: "Links to this page, and programs that ask the API for the group by its code, need the new one.",
    plant: "Links to this page, and programs that ask the API for the plant by its code, need the new one.",
  }[node.kind];
  const values = await form({
    title: `Change the code of ${node.name}`,
    action: "Change code",
    intro: html`${fresh || !warning ? nothing : html`<div class="notice wait"><strong>Others may use the code ${node.code}.</strong> ${warning} Stations keep their history.</div>`}
      ${
        refs.length
          ? html`<p>${count(refs.length, "entry", "entries")} that name${refs.length === 1 ? "s" : ""} it will name the new code: <bdi>${refs
              .slice(0, 5)
              .map((r) => r.what)
              .join(", ")}${refs.length > 5 ? ", …" : ""}</bdi>.</p>`
          : nothing
      }`,
    fields: [
      {
        name: "code",
        label: "Code",
        kind: "text",
        value: node.code,
        check: (v) => codeProblem(page, node.kind, v, v !== node.code && isTaken(doc, node.kind, node.plant, v)),
      },
    ],
  });
  if (!values || values.code === node.code) return;
  ctx.workspace.edit((doc) => rename(doc, node, values.code));
  go(ctx, ...[node.plant, node.group].filter(Boolean).map((n) => n.code), values.code);
}

/** removeNodes asks whether plants, groups or stations shall go, telling what goes with them; it gives whether they went. */
export async function removeNodes(ctx, nodes) {
  const { doc } = ctx.workspace,
    stations = nodes.flatMap(below).filter((n) => n.kind === "station"),
    refs = references(doc, nodes.flatMap(below));
  const one = nodes.length === 1 ? nodes[0] : null,
    title = one ? `Remove ${one.name}?` : `Remove ${count(nodes.length, "station")}?`;
  const emptied = [...new Set(nodes.map((n) => n.above))].filter(
    (above) => above && above.children.every((n) => nodes.includes(n)),
  );
  const text = html`
    <p>${stations.length === 1 ? html`The station <bdi>${stations[0].name}</bdi> (${stations[0].code})` : html`${count(stations.length, "station")}`} will no longer be planned, watched or shown on tablets once you apply this. Settings that were made here are lost with ${stations.length === 1 ? "it" : "them"}.</p>
    <p><strong>History is kept.</strong> ${stations.length === 1 ? "It is" : "They are"} archived with all figures, and ${stations.length === 1 ? "comes" : "come"} back when a station with the same code is added.</p>
    ${
      refs.length
        ? html`<p>${count(refs.length, "entry", "entries")} will not name ${stations.length === 1 ? "it" : "them"} any more: <bdi>${refs
            .slice(0, 8)
            .map((r) => r.what)
            .join(", ")}${refs.length > 8 ? ", …" : ""}</bdi>.</p>`
        : nothing
    }
    ${emptied.length ? html`<div class="notice wait"><strong>Nothing is left in ${emptied.map((n) => n.name).join(", ")}.</strong> A group needs a station and a plant needs a group before this can be applied.</div>` : nothing}`;
  if (!(await confirm({ title, text, action: "Remove", danger: true }))) return false;
  ctx.workspace.edit((doc) => remove(doc, nodes));
  toast(
    `${one ? `${one.name} is` : `${count(nodes.length, "station")} are`} removed. Undo brings ${one ? "it" : "them"} back.`,
  );
  return true;
}

/** moveNodes asks for the group that stations go to, tells what that changes, and gives the moved ones' new home; null when it is left. */
export async function moveNodes(ctx, nodes) {
  const index = indexOf(ctx.workspace.doc),
    homes = index.plants.flatMap((p) => p.children).filter((g) => !nodes.every((n) => n.group.id === g.id));
  const state = { search: "", target: null };
  const target = await openDialog((control) => ({
    title: nodes.length === 1 ? `Move ${nodes[0].name}` : `Move ${count(nodes.length, "station")}`,
    body: html`<input type="search" autofocus aria-label="Find a group" placeholder="Find a group" .value=${state.search} @input=${(
      e,
    ) => {
      state.search = e.target.value;
      control.update();
    }}>
      <div class="choices" role="radiogroup" aria-label="Group">${homes
        .filter((g) => matches(state.search, g.name, g.code, g.plant.name, g.plant.code))
        .slice(0, 200)
        .map(
          (g) => html`
        <label class="check"><input type="radio" name="move-to" .checked=${state.target === g} @change=${() => {
          state.target = g;
          control.update();
        }}><span><bdi>${g.name}</bdi> <span class="muted"><bdi>${g.plant.name}</bdi>, ${count(g.children.length, "station")}</span></span></label>`,
        )}</div>
      ${state.target ? html`<div role="status">${consequences(ctx, nodes, state.target)}</div>` : nothing}`,
    actions: html`<button type="button" class="button" @click=${() => control.close()}>Cancel</button><button type="button" class="button primary" ?disabled=${!state.target} @click=${() => control.close(state.target)}>Move</button>`,
  }));
  if (!target) return null;
  ctx.workspace.edit((doc) => move(doc, nodes, target));
  toast(`${nodes.length === 1 ? nodes[0].name : count(nodes.length, "station")} moved to ${target.name}.`);
  return target;
}

// What a move changes at the stations, because they inherit from another group and plant.
function consequences(ctx, nodes, target) {
  const { doc } = ctx.workspace,
    next = move(doc, nodes, target),
    said = new Map();
  const note = (what) => said.set(what, (said.get(what) ?? 0) + 1);
  for (const node of nodes.slice(0, 500)) {
    const before = resolve(find(doc, node), doc.account),
      after = resolve(find(next, node), next.account);
    if (before.shiftPattern?.code !== after.shiftPattern?.code)
      note(
        `the shift pattern is ${after.shiftPattern?.title ?? "none"} instead of ${before.shiftPattern?.title ?? "none"}`,
      );
    if (Object.keys(before.flags).some((name) => before.flags[name].value !== after.flags[name].value))
      note("features change");
    if (!isEqual(before.reasons, after.reasons)) note("reasons change");
    if (!isEqual(before.taskLists, after.taskLists)) note("Task lists change");
    if (!isEqual(before.skus, after.skus)) note("the SKUs that can run change");
    if (node.plant.item.timezone !== target.plant.item.timezone)
      note(`the time zone is ${target.plant.item.timezone} instead of ${node.plant.item.timezone}`);
  }
  const foreign = nodes.some((n) => n.plant.id !== target.plant.id)
    ? references(doc, nodes).filter((r) => r.what.startsWith("energy total"))
    : [];
  const emptied = [...new Set(nodes.map((n) => n.group))].filter((g) => g.children.every((n) => nodes.includes(n)));
  return html`${said.size ? html`<p>What they inherit changes:</p><ul>${[...said].map(([what, n]) => html`<li>${nodes.length > 1 ? `${count(n, "station")}: ` : ""}${what}</li>`)}</ul>` : html`<p class="muted">Nothing that holds at ${nodes.length === 1 ? "it" : "them"} changes.</p>`}
    ${foreign.length ? html`<p class="notice wait">An energy total can name stations of its own plant alone: ${foreign.map((r) => r.what).join(", ")}.</p>` : nothing}
    ${emptied.length ? html`<p class="notice wait">No station is left in ${emptied.map((g) => g.name).join(", ")}; a group needs one.</p>` : nothing}`;
}
