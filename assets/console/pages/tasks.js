// Tasks and Task lists: what operators do, when it comes up, and in what order.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { brief } from "../../shared/brief.js";
import { confirm } from "../../shared/dialog.js";
import { getIn, insertIn, setIn, updateIn } from "../../shared/document.js";
import { compare, count, matches } from "../../shared/format.js";
import { table } from "../../shared/rows.js";
import { schemas } from "../../shared/schema.js";
import { codeField, entityFields, freeCode, withoutCodes } from "../entity.js";
import { renameAtLevels } from "../levels.js";
import { inOrder, ordered, place, take } from "../tasks/order.js";
import { trigger, triggerWords } from "../tasks/trigger.js";

const tasks = ["account", "tasks"],
  lists = ["account", "taskLists"];
const taskHref = (code) => `/console/tasks/${encodeURIComponent(code)}`;
const listHref = (code) => `/console/tasks/list/${encodeURIComponent(code)}`;

export async function open(ctx) {
  const all = await schemas(),
    state = { path: ctx.path, search: "", tasks: { by: "title" }, lists: { by: "name" } };
  const tools = { ctx, all, state };
  const render = () => {
    const [kind, code] =
      state.path[0] === "list" && state.path.length > 1 ? ["list", state.path[1]] : ["task", state.path[0]];
    if (code === undefined) return listing(tools);
    const found = (getIn(ctx.workspace.doc, kind === "list" ? lists : tasks) ?? []).findIndex((e) => e.code === code);
    if (found < 0)
      return html`<div class="page-head"><h1 dir="auto">${code}</h1></div><p class="empty">There is no ${kind === "list" ? "Task list" : "Task"} of this code. <a href="/console/tasks">All Tasks</a></p>`;
    return kind === "list"
      ? oneList(tools, ctx.workspace.doc.account.taskLists[found], found)
      : oneTask(tools, ctx.workspace.doc.account.tasks[found], found);
  };
  return {
    get title() {
      return state.path.at(-1) ?? "Tasks";
    },
    render,
    changed: (now) => {
      state.path = now.path;
    },
  };
}

function listing({ ctx, state }) {
  const { workspace } = ctx,
    account = workspace.doc.account,
    found = (e) => !state.search || matches(state.search, e.code, e.title ?? e.name ?? "", e.description ?? "");
  const on = account.enableTasks === "on",
    nameOf = new Map((account.taskLists ?? []).map((l) => [l.code, l.name]));
  return html`
    <div class="page-head"><h1>Tasks</h1>${workspace.readOnly ? nothing : html`<div class="row"><button type="button" class="button" @click=${() => addList(ctx)}>Add a Task list</button><button type="button" class="button primary" @click=${() => addTask(ctx)}>Add a Task</button></div>`}
      ${on ? nothing : html`<p class="notice wait">The feature Tasks is off for this account: none comes up. It is switched on at <a href="/console/account">Account</a>.</p>`}</div>
    <input type="search" class="search" aria-label="Search Tasks" placeholder="Search" .value=${state.search} @input=${(
      e,
    ) => {
      state.search = e.target.value;
      ctx.update();
    }}>
    <h2>Task lists</h2>
    ${table({
      rows: (account.taskLists ?? []).filter(found),
      state: state.lists,
      changed: ctx.update,
      caption: "Task lists",
      empty: "No Task list is defined yet.",
      open: (l) => ctx.navigate(listHref(l.code)),
      columns: [
        {
          name: "name",
          label: "Name",
          text: (l) => l.name,
          cell: (l) => html`<a href=${listHref(l.code)}>${brief(l.name || l.code)}</a>`,
        },
        { name: "code", label: "Code", text: (l) => l.code },
        { name: "trigger", label: "Comes up", text: (l) => triggerWords(ctx, l.trigger) },
        { name: "tasks", label: "Tasks", numeric: true, text: (l) => ordered(account.tasks, l.code).length },
      ],
    })}
    <h2>Tasks</h2>
    ${table({
      rows: (account.tasks ?? []).filter(found),
      state: state.tasks,
      changed: ctx.update,
      caption: "Tasks",
      empty: "No Task is defined yet.",
      open: (t) => ctx.navigate(taskHref(t.code)),
      columns: [
        {
          name: "title",
          label: "Title",
          text: (t) => t.title,
          cell: (t) => html`<a href=${taskHref(t.code)}>${brief(t.title || t.code)}</a>`,
        },
        { name: "code", label: "Code", text: (t) => t.code },
        {
          name: "lists",
          label: "In the lists",
          text: (t) => (t.taskListCodes ?? []).map((l) => nameOf.get(l.code) ?? l.code).join(", "),
        },
        { name: "notes", label: "Notes", text: (t) => (t.requireNotes ? "required" : "") },
        {
          name: "shown",
          label: "",
          cell: (t) => (appears(account, t) ? nothing : html`<span class="state wait small">appears nowhere</span>`),
        },
      ],
    })}`;
}

// A Task in no list comes up with the schedules of SKUs that name it, and else never (monitoring.md section 5).
const appears = (account, task) => task.taskListCodes?.length > 0 || skusOf(account, task.code).length > 0;
const skusOf = (account, code) => (account.skus ?? []).filter((sku) => sku.taskCodes?.includes(code));

function addTask(ctx, like, list) {
  const all = ctx.workspace.doc.account.tasks ?? [],
    code = freeCode(all, like?.code ?? "new-task");
  ctx.workspace.edit((doc) =>
    insertIn(doc, tasks, {
      ...like,
      code,
      title: like?.title ?? "New Task",
      ...(list && { taskListCodes: [{ code: list, order: place(ordered(all, list), list) }] }),
    }),
  );
  ctx.navigate(taskHref(code));
}

function addList(ctx) {
  const code = freeCode(ctx.workspace.doc.account.taskLists, "new-list");
  ctx.workspace.edit((doc) => insertIn(doc, lists, { code, name: "New Task list", trigger: { type: "schedule" } }));
  ctx.navigate(listHref(code));
}

function head({ ctx }, title, { duplicate, remove }) {
  return html`<div class="page-head"><div><a href="/console/tasks">Tasks</a><h1>${brief(title)}</h1></div>
    ${ctx.workspace.readOnly ? nothing : html`<div class="row">${duplicate ? html`<button type="button" class="button" @click=${duplicate}>Duplicate</button>` : nothing}<button type="button" class="button" @click=${remove}>Remove</button></div>`}</div>`;
}

function oneTask(tools, task, at) {
  const { ctx, all } = tools,
    { workspace } = ctx,
    account = workspace.doc.account,
    path = [...tasks, at];
  const inLists = (task.taskListCodes ?? [])
      .map((l) => account.taskLists?.find((list) => list.code === l.code))
      .filter(Boolean),
    skus = skusOf(account, task.code);
  const rename = (code) => {
    workspace.edit((doc) =>
      updateIn(setIn(doc, [...path, "code"], code), ["account", "skus"], (list) =>
        list?.map((sku) =>
          sku.taskCodes?.includes(task.code)
            ? { ...sku, taskCodes: sku.taskCodes.map((c) => (c === task.code ? code : c)) }
            : sku,
        ),
      ),
    );
    ctx.navigate(taskHref(code), { replace: true });
  };
  const remove = async () => {
    const text = `${inLists.length ? `It leaves ${count(inLists.length, "list")}. ` : ""}${skus.length ? `${count(skus.length, "SKU names", "SKUs name")} it; ${skus.length === 1 ? "its link goes" : "their links go"} too. ` : ""}What was completed stays in the history.`;
    if (!(await confirm({ title: `Remove ${task.title}?`, text, action: "Remove", danger: true }))) return;
    workspace.edit((doc) =>
      updateIn(withoutCodes(doc, tasks, [task.code]), ["account", "skus"], (list) =>
        list?.map((sku) =>
          sku.taskCodes?.includes(task.code)
            ? { ...sku, taskCodes: sku.taskCodes.filter((c) => c !== task.code) }
            : sku,
        ),
      ),
    );
    ctx.navigate("/console/tasks");
  };
  const wins = inLists.filter((list) => list.trigger);
  return html`${head(tools, task.title || task.code, { duplicate: () => addTask(ctx, task), remove })}
    ${appears(account, task) ? nothing : html`<p class="notice wait">It is in no list and of no SKU, so it appears nowhere.</p>`}
    <section class="card stack"><h2>What it is</h2>${entityFields(ctx, all, "Task", path, [codeField(task.code, account.tasks, rename), "title", "description", "requireNotes"])}</section>
    <section class="card stack"><h2>Comes up</h2>
      ${wins.length ? html`<p class="muted">${wins.length === inLists.length ? "Its lists say" : "These lists say"} when: ${wins.map((list) => html`<a href=${listHref(list.code)}>${brief(list.name)}</a> (${triggerWords(ctx, list.trigger)})`)}. Its own trigger counts where its list has none.</p>` : nothing}
      ${trigger(tools, "Task", path, task.trigger, { optional: true })}</section>
    <section class="card stack"><h2>In the lists</h2>
      ${entityFields(ctx, all, "Task", path, [
        [
          "taskListCodes",
          {
            kind: "codes",
            label: "Task lists",
            value: task.taskListCodes?.map((l) => l.code) ?? null,
            options: (account.taskLists ?? []).map((l) => ({ value: l.code, label: l.name })),
            change: (codes) =>
              workspace.edit((doc) =>
                setIn(
                  doc,
                  [...path, "taskListCodes"],
                  codes
                    ? codes.map(
                        (code) =>
                          task.taskListCodes?.find((l) => l.code === code) ?? {
                            code,
                            order: place(ordered(account.tasks, code), code),
                          },
                      )
                    : undefined,
                ),
              ),
          },
        ],
      ])}
      <p class="muted">Linked to ${skus.length ? skus.map((sku) => html`<a class="chip plain" href=${`/console/skus/${encodeURIComponent(sku.code)}`}><bdi>${sku.code}</bdi></a> `) : "no SKU"}</p></section>`;
}

function oneList(tools, list, at) {
  const { ctx, all } = tools,
    { workspace } = ctx,
    account = workspace.doc.account,
    path = [...lists, at],
    inside = ordered(account.tasks, list.code);
  const rename = (code) => {
    workspace.edit((doc) => follow(setIn(doc, [...path, "code"], code), list.code, code));
    ctx.navigate(listHref(code), { replace: true });
  };
  const remove = async () => {
    if (
      !(await confirm({
        title: `Remove ${list.name}?`,
        text: `${inside.length ? `${count(inside.length, "Task")} ${inside.length === 1 ? "leaves" : "leave"} it and ${inside.length === 1 ? "stays" : "stay"}. ` : ""}Levels that name it forget it.`,
        action: "Remove",
        danger: true,
      }))
    )
      return;
    workspace.edit((doc) => follow(withoutCodes(doc, lists, [list.code]), list.code, null));
    ctx.navigate("/console/tasks");
  };
  const levels = levelsOf(workspace.doc, list.code);
  const rest = (account.tasks ?? [])
    .filter((t) => !t.taskListCodes?.some((l) => l.code === list.code))
    .toSorted((a, b) => compare(a.title, b.title));
  return html`${head(tools, list.name || list.code, { remove })}
    <section class="card stack"><h2>What it is</h2>${entityFields(ctx, all, "TaskList", path, [codeField(list.code, account.taskLists, rename), "name", "description"])}</section>
    <section class="card stack"><h2>Comes up</h2>${trigger(tools, "TaskList", path, list.trigger, { optional: true, none: "Each Task's own trigger counts." })}</section>
    <section class="card stack"><h2>Tasks in it</h2>${inOrder(tools, list.code, inside, taskHref)}
      ${
        workspace.readOnly
          ? nothing
          : html`<div class="row no-print"><select aria-label="A Task to add" @change=${(e) => {
              if (e.target.value) take(workspace, e.target.value, list.code);
              e.target.value = "";
            }}><option value="">Add a Task that exists …</option>${rest.map((t) => html`<option value=${t.code}>${t.title} (${t.code})</option>`)}</select>
        <button type="button" class="button" @click=${() => addTask(ctx, undefined, list.code)}>Add a new one</button></div>`
      }</section>
    <section class="card stack"><h2>Available at</h2>${
      levels.length
        ? html`<ul class="plain-list">${levels.map((l) => html`<li><a href=${l.href}>${brief(l.label)}</a>${l.excluded ? html` <span class="muted">(left out there)</span>` : nothing}</li>`)}</ul>`
        : html`<p class="state wait">No level includes it, so it appears nowhere.</p>`
    }</section>`;
}

// levelsOf lists the levels whose own lists name a Task list.
function levelsOf(doc, code) {
  const level = (e, label, href) =>
    e.includeTaskListCodes?.includes(code) || e.excludeTaskListCodes?.includes(code)
      ? [{ label, href, excluded: e.excludeTaskListCodes?.includes(code) }]
      : [];
  const at = (...es) => `/console/plants/${es.map((e) => encodeURIComponent(e.code)).join("/")}`;
  return [
    ...level(doc.account, "The whole account", "/console/account"),
    ...doc.account.plants.flatMap((p) => [
      ...level(p, p.name, at(p)),
      ...p.stationGroups.flatMap((g) => [
        ...level(g, `${g.name}, ${p.name}`, at(p, g)),
        ...g.stations.flatMap((s) => level(s, `${s.name} (${s.code})`, at(p, g, s))),
      ]),
    ]),
  ];
}

// follow has all that names a Task list name it by another code, or forget it (null).
function follow(doc, from, to) {
  const entries = (all) =>
    to === null ? all.filter((l) => l.code !== from) : all.map((l) => (l.code === from ? { ...l, code: to } : l));
  const named = renameAtLevels(doc, ["includeTaskListCodes", "excludeTaskListCodes"], from, to);
  return updateIn(named, tasks, (list) =>
    list?.map((t) =>
      t.taskListCodes?.some((l) => l.code === from) ? { ...t, taskListCodes: entries(t.taskListCodes) } : t,
    ),
  );
}
