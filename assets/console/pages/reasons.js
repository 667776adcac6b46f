// Reasons: a tree that is put in order by dragging or with the keyboard, and one reason at a time to change.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { brief } from "../../shared/brief.js";
import { confirm } from "../../shared/dialog.js";
import { getIn, insertIn, setIn, updateIn } from "../../shared/document.js";
import { count, matches } from "../../shared/format.js";
import { propertyOf, schemas } from "../../shared/schema.js";
import { field } from "../../shared/form.js";
import { wordOf } from "../../shared/terms.js";
import { codeField, entityFields, freeCode, withoutCodes } from "../entity.js";
import { listButtons } from "../lists/dialog.js";
import { renameAtLevels } from "../levels.js";

const root = ["account", "reasons"],
  lists = ["includeReasonCodes", "excludeReasonCodes"];

/** placeOf makes a path of the document from a place in the tree: [1, 0] is the first reason below the second one. */
const placeOf = (place) => place.reduce((path, i, depth) => [...path, ...(depth ? ["reasons"] : []), i], root);
const listOf = (place) => placeOf(place).slice(0, -1);

export async function open(ctx) {
  const all = await schemas(),
    state = { path: ctx.path, search: "", closed: new Set(), drop: null, all };
  return {
    get title() {
      return state.path[0] ?? "Reasons";
    },
    render: () => page(ctx, state),
    changed: (now) => {
      state.path = now.path;
    },
  };
}

// rowsOf lists the reasons of the tree from top to bottom: {reason, place, depth, parents, inherits: the type given above}.
function rowsOf(list, state, place = [], parents = [], type = null) {
  return (list ?? []).flatMap((reason, i) => {
    const here = { reason, place: [...place, i], parents, type: reason.type ?? type };
    const below =
      !state.search && state.closed.has(reason.code)
        ? []
        : rowsOf(reason.reasons, state, here.place, [...parents, reason], here.type);
    return [here, ...below];
  });
}

const href = (code) => `/console/reasons/${encodeURIComponent(code)}`;

function page(ctx, state) {
  const { workspace } = ctx,
    tree = getIn(workspace.doc, root) ?? [];
  const every = rowsOf(tree, { closed: new Set() });
  const rows = rowsOf(tree, state).filter(
    (row) =>
      !state.search || matches(state.search, row.reason.code, row.reason.name ?? "", row.reason.description ?? ""),
  );
  const chosen = every.find((row) => row.reason.code === state.path[0]);
  const tools = { ctx, state, every };
  return html`
    <div class="page-head"><h1>Reasons</h1><div class="row">${listButtons(ctx, "reasons")}${workspace.readOnly ? nothing : html`<button type="button" class="button primary" @click=${() => add(tools, [tree.length])}>Add a reason</button>`}</div>
      <p>What a stop or planned time without production can be given. Which level offers which reasons is set at plants, groups and stations.</p></div>
    <div class="split">
      <section class="card stack"><input type="search" aria-label="Search reasons" placeholder="Search" .value=${state.search} @input=${(
        e,
      ) => {
        state.search = e.target.value;
        ctx.update();
      }}>
        ${
          rows.length
            ? html`<ul class="reason-tree" role="tree" aria-label="Reasons" @dragover=${(e) => over(e, tools)} @drop=${(e) => drop(e, tools)} @dragend=${() => {
                state.drop = null;
                ctx.update();
              }} @keydown=${(e) => keys(e, tools)}>
          ${rows.map((row) => treeRow(row, tools, rows))}</ul>`
            : html`<p class="empty">${state.search ? "Nothing is found." : "No reason is defined yet."}</p>`
        }
        ${workspace.readOnly ? nothing : html`<p class="muted small no-print">Drag a reason to its place, or choose it and move it with the arrows below its name. With the keyboard: Alt and the arrow keys.</p>`}</section>
      ${
        state.path[0] === undefined
          ? html`<section class="card"><p class="muted">${count(every.length, "reason")}. Choose one to see or change it.</p></section>`
          : chosen
            ? detail(tools, chosen)
            : html`<section class="card"><p class="empty">There is no reason of the code <bdi>${state.path[0]}</bdi>.</p></section>`
      }
    </div>`;
}

function treeRow({ reason, place, type }, { ctx, state }, rows) {
  const chosen = reason.code === state.path[0],
    below = reason.reasons?.length > 0,
    closed = state.closed.has(reason.code) && !state.search;
  const at = state.drop?.code === reason.code ? ` drop-${state.drop.where}` : "";
  const problems = ctx.workspace.problemsBelow(placeOf(place));
  return html`<li class=${`tree-row${chosen ? " chosen" : ""}${at}`} role="treeitem" tabindex=${chosen || (!rows.some((r) => r.reason.code === state.path[0]) && rows[0].reason === reason) ? 0 : -1} aria-level=${place.length}
      aria-selected=${String(chosen)} aria-expanded=${below ? String(!closed) : nothing} data-code=${reason.code} data-depth=${Math.min(place.length, 8)} draggable=${ctx.workspace.readOnly ? "false" : "true"}
      @dragstart=${(e) => {
        e.dataTransfer.setData("text/plain", reason.code);
        e.dataTransfer.effectAllowed = "move";
        state.dragged = reason.code;
      }} @click=${() => choose(ctx, reason.code)}>
    <button type="button" class="twist" tabindex="-1" aria-hidden="true" ?disabled=${!below} @click=${(e) => {
      e.stopPropagation();
      toggle(state, reason.code);
      ctx.update();
    }}>${below ? (closed ? "▸" : "▾") : ""}</button>
    <span class="tree-name">${brief(reason.name ?? reason.code)}</span><code class="muted small">${reason.code}</code>
    ${problems ? html`<span class="state bad small">${count(problems, "problem")}</span>` : nothing}
    <span class="muted small tree-type">${[type?.length === 1 && wordOf(type[0]), reason.oee && wordOf(reason.oee)].filter(Boolean).join(" · ")}</span></li>`;
}

// choose opens a reason where the tree is looked at, and brings its form into view where that stands below the tree.
function choose(ctx, code) {
  ctx.navigate(href(code), { still: true });
  requestAnimationFrame(() => {
    const form = document.querySelector(".split > :last-child");
    if (form && getComputedStyle(form).position !== "sticky") form.scrollIntoView({ block: "start" });
  });
}

const toggle = (state, code) => {
  if (!state.closed.delete(code)) state.closed.add(code);
};

function add({ ctx, every }, place) {
  const code = freeCode(
    every.map((row) => row.reason),
    "NEW-REASON",
  );
  ctx.workspace.edit((doc) => insertIn(doc, listOf(place), { code, name: "New reason" }, place.at(-1)));
  ctx.navigate(href(code));
}

/** move takes a reason from a place to another one of the tree as it is now; a place in itself is none. */
function move({ ctx }, from, to) {
  if (from.every((i, depth) => to[depth] === i) && (to.length > from.length || to.length === from.length)) return;
  ctx.workspace.edit((doc) => {
    const reason = getIn(doc, placeOf(from)),
      target = [...to];
    const cut = updateIn(doc, listOf(from), (list) => list.toSpliced(from.at(-1), 1));
    const depth = from.length - 1; // taking it out moves what follows it in its list up by one
    if (target.length > depth && from.slice(0, depth).every((i, d) => target[d] === i) && target[depth] > from[depth])
      target[depth]--;
    return insertIn(cut, listOf(target), reason, target.at(-1));
  });
}

// Where a dragged reason would go: before, after, or into the one under it.
function over(event, { ctx, state }) {
  const row = event.target.closest(".tree-row");
  if (!row || !state.dragged) return;
  event.preventDefault();
  const box = row.getBoundingClientRect(),
    y = (event.clientY - box.top) / box.height;
  const drop = { code: row.dataset.code, where: y < 0.28 ? "before" : y > 0.72 ? "after" : "into" };
  if (drop.code !== state.drop?.code || drop.where !== state.drop?.where) {
    state.drop = drop;
    ctx.update();
  }
}

function drop(event, tools) {
  event.preventDefault();
  const { state, every, ctx } = tools,
    { drop: at, dragged } = state;
  Object.assign(state, { drop: null, dragged: null });
  const from = every.find((row) => row.reason.code === dragged),
    onto = every.find((row) => row.reason.code === at?.code);
  if (!from || !onto || from === onto) return ctx.update();
  const last = onto.place.at(-1),
    list = onto.place.slice(0, -1);
  move(
    tools,
    from.place,
    at.where === "into"
      ? [...onto.place, onto.reason.reasons?.length ?? 0]
      : [...list, at.where === "before" ? last : last + 1],
  );
  ctx.update();
}

function keys(event, tools) {
  const { ctx, state, every } = tools,
    row = event.target.closest(".tree-row");
  if (!row || event.target !== row) return;
  const at = every.find((r) => r.reason.code === row.dataset.code),
    visible = [...row.parentElement.querySelectorAll(".tree-row")],
    i = visible.indexOf(row);
  const focus = (element) => element && (element.focus(), ctx.navigate(href(element.dataset.code), { replace: true }));
  const handled = event.altKey
    ? !ctx.workspace.readOnly && shift(event.key, tools, at)
    : {
        ArrowDown: () => focus(visible[i + 1]),
        ArrowUp: () => focus(visible[i - 1]),
        Home: () => focus(visible[0]),
        End: () => focus(visible.at(-1)),
        ArrowRight: () => {
          if (state.closed.delete(at.reason.code)) ctx.update();
          else if (at.reason.reasons?.length) focus(visible[i + 1]);
        },
        ArrowLeft: () => {
          if (at.reason.reasons?.length && !state.closed.has(at.reason.code)) {
            state.closed.add(at.reason.code);
            ctx.update();
          } else focus(visible.find((v) => v.dataset.code === at.parents.at(-1)?.code));
        },
        Enter: () => focus(row),
        " ": () => focus(row),
      }[event.key];
  if (!handled) return;
  event.preventDefault();
  handled();
  // rows are drawn anew in place: the focus goes with the reason and not with the row
  const code = event.altKey ? at.reason.code : (document.activeElement?.dataset?.code ?? at.reason.code);
  queueMicrotask(() =>
    queueMicrotask(() => document.querySelector(`.tree-row[data-code="${CSS.escape(code)}"]`)?.focus()),
  );
}

// shift gives what Alt and an arrow key do: up and down in its list, out of its parent, into the one before.
function shift(key, tools, { place, parents }) {
  const last = place.at(-1),
    list = place.slice(0, -1);
  const before = last > 0 ? getIn(tools.ctx.workspace.doc, placeOf([...list, last - 1])) : null;
  const length = getIn(tools.ctx.workspace.doc, listOf(place)).length;
  return {
    ArrowUp: last > 0 ? () => move(tools, place, [...list, last - 1]) : null,
    ArrowDown: last < length - 1 ? () => move(tools, place, [...list, last + 2]) : null,
    ArrowLeft: parents.length ? () => move(tools, place, [...list.slice(0, -1), list.at(-1) + 1]) : null,
    ArrowRight: before
      ? () => {
          tools.state.closed.delete(before.code);
          move(tools, place, [...list, last - 1, before.reasons?.length ?? 0]);
        }
      : null,
  }[key];
}

// moves are buttons that do what Alt and the arrow keys do, for screens without a keyboard.
function moves(tools, row) {
  const name = row.reason.name ?? row.reason.code,
    arrows = [
      ["ArrowUp", "↑", "up"],
      ["ArrowDown", "↓", "down"],
      ["ArrowLeft", "←", "out of the one above it"],
      ["ArrowRight", "→", "into the one before it"],
    ];
  return html`<div class="row no-print" role="group" aria-label="Its place in the tree">${arrows.map(
    ([key, sign, where]) => {
      const go = shift(key, tools, row);
      return html`<button type="button" class="icon-button" title=${`Move ${where}`} aria-label=${`Move ${name} ${where}`} ?disabled=${!go} @click=${go}>${sign}</button>`;
    },
  )}</div>`;
}

// takeOut gives a document without a reason and those below it, wherever it stands by now, and without what names them.
function takeOut(doc, code) {
  const found = rowsOf(getIn(doc, root), { closed: new Set() }).find((row) => row.reason.code === code);
  if (!found) return doc;
  const gone = rowsOf([found.reason], { closed: new Set() }).map((row) => row.reason.code);
  return gone.reduce(
    (now, each) => renameAtLevels(now, lists, each, null),
    withoutCodes(doc, listOf(found.place), [code]),
  );
}

function detail(tools, { reason, place, parents, type }) {
  const { ctx, state, every } = tools,
    { workspace } = ctx,
    path = placeOf(place);
  const rename = (code) => {
    workspace.edit((doc) => renameAtLevels(setIn(doc, [...path, "code"], code), lists, reason.code, code));
    ctx.navigate(href(code), { replace: true });
  };
  const remove = async () => {
    const below = rowsOf(reason.reasons, { closed: new Set() }),
      n = below.length;
    if (
      !(await confirm({
        title: `Remove ${reason.name ?? reason.code}?`,
        text: `${n ? `${count(n, "reason")} below it ${n === 1 ? "goes" : "go"} too. ` : ""}Stops that were given it keep its code. Levels that name it forget it.`,
        action: "Remove",
        danger: true,
      }))
    )
      return;
    workspace.edit((doc) => takeOut(doc, reason.code));
    ctx.navigate("/console/reasons");
  };
  const kinds = ["downtime", "non_production"].map((value) => ({ value, label: wordOf(value) }));
  const inherited =
    parents.length && !reason.type
      ? ` Not set: as the reason above it${type ? ` (${type.map(wordOf).join(" and ")})` : ""}.`
      : " Not set: both.";
  return html`<section class="card stack"><div class="spread"><h2>${brief(reason.name ?? reason.code)}</h2>
      ${
        workspace.readOnly
          ? nothing
          : html`<div class="row"><button type="button" class="button small" @click=${() => {
              state.closed.delete(reason.code);
              add(tools, [...place, reason.reasons?.length ?? 0]);
            }}>Add below it</button><button type="button" class="button small" @click=${remove}>Remove</button></div>`
      }</div>
    ${workspace.readOnly ? nothing : moves(tools, { reason, place, parents })}
    ${parents.length ? html`<p class="muted small">${parents.map((p) => html`<a href=${href(p.code)}>${brief(p.name ?? p.code)}</a> › `)}</p>` : nothing}
    ${entityFields(ctx, tools.state.all, "Reason", path, [
      codeField(
        reason.code,
        every.map((row) => row.reason),
        rename,
      ),
      "name",
      "description",
    ])}
    ${field({ name: "type", id: "reason-type", schema: propertyOf(state.all, "Reason", "type"), hint: `${propertyOf(state.all, "Reason", "type").description}${inherited}`, value: reason.type, options: kinds, disabled: workspace.readOnly, problem: workspace.problem([...path, "type"]), change: (value) => workspace.edit((doc) => setIn(doc, [...path, "type"], value?.length ? value : undefined)) })}
    ${entityFields(ctx, state.all, "Reason", path, ["oee"])}</section>`;
}
