// The manifest as one document, in an editor that knows the schema. It changes the same draft as the other pages.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { ref } from "../../vendor/lit-html/directives/ref.js";
import { differences, isEqual, merge, parsePath, shared } from "../../shared/document.js";
import { openDialog, sentence } from "../../shared/dialog.js";
import { bytes } from "../../shared/format.js";
import { keep } from "../../shared/keep.js";
import { schemas } from "../../shared/schema.js";
import { differenceList } from "../differences.js";
import { mountEditor, recheck, replace, reveal } from "../manifest/editor.js";
import { duplicates, duplicatesIn, pathAt, placeOf, wrongAt } from "../manifest/places.js";
import { completions, schemaAt, shapeFault } from "../manifest/schema.js";

/** The service takes no larger manifest (decisions.md section 1), in bytes. */
const limit = 32 << 20;

/** How long the tree of a document may take when somebody waits to be led to a place in it, in milliseconds. */
const jump = 10000;

const write = (doc) => `${JSON.stringify(doc, null, 2)}\n`;

export async function open(ctx) {
  const { workspace } = ctx,
    all = await schemas(),
    key = `text:${ctx.profile.accountId}:${ctx.profile.email}`;
  const left = workspace.readOnly ? null : await keep.get(key);
  const state = {
    view: null,
    text: left?.text ?? write(workspace.doc),
    broken: "",
    timer: 0,
    doc: left?.doc ?? workspace.doc,
  }; // doc is the draft that the text was made of
  const tools = { ctx, all, state, key };
  const followed = () => follow(tools);
  workspace.addEventListener("change", followed);
  if (left) read(tools);
  const mount = (host) => {
    if (!host || host === state.host) return;
    state.host = host;
    state.view = mountEditor(host, {
      text: state.text,
      label: "Manifest",
      changed: workspace.readOnly ? undefined : () => typed(tools),
      check: (view) => diagnostics(tools, view),
      complete: completions(all, () => workspace.doc),
      about: (editor, pos) => about(tools, editor, pos),
    });
    const at = ctx.query.get("at");
    if (at) setTimeout(() => reveal(state.view, placeOf(state.view.state, parsePath(at), jump)), 50);
  };
  const leave = () => {
    workspace.removeEventListener("change", followed);
    clearTimeout(state.timer);
    if (state.waiting) read(tools);
    state.view?.destroy();
  };
  return { title: "Manifest", render: () => page(tools, mount), leave };
}

const page = (tools, mount) => {
  const { ctx, state } = tools,
    { workspace } = ctx,
    name = `${ctx.profile.accountId}-revision-${workspace.revision}`;
  return html`
    <div class="page-head"><h1>Manifest</h1><div class="row">
      ${
        workspace.readOnly
          ? nothing
          : html`<label class="button">Upload<input type="file" accept="application/json,.json" class="visually-hidden" @change=${(e) => upload(tools, e.target)}></label>
        <button type="button" class="button" @click=${() => format(tools)} ?disabled=${Boolean(state.broken)}>Format</button>`
      }
      <button type="button" class="button" @click=${() => save(`${name}.json`, write(workspace.base))}>Download revision ${workspace.revision}</button>
      ${workspace.dirty ? html`<button type="button" class="button" @click=${() => save(`${name}-draft.json`, textOf(state))}>Download the draft</button>` : nothing}</div>
      <p>The whole configuration. What you change here is seen on the other pages at once, and counts when you apply it.</p></div>
    ${state.broken ? html`<p class="notice bad" role="alert"><strong>This text is ${state.shape ? "no manifest" : "not valid JSON"}, so it does not count yet.</strong> ${state.broken} It is kept in this browser.</p>` : nothing}
    <div class="editor" ${ref(mount)} @dragover=${(e) => e.preventDefault()} @drop=${(e) => {
      if (e.dataTransfer.files[0] && !workspace.readOnly) {
        e.preventDefault();
        offer(tools, e.dataTransfer.files[0]);
      }
    }}></div>
    <p class="muted small no-print">Ctrl+Space completes, Ctrl+F finds, Ctrl+Shift+M lists the problems; Escape and then Tab leaves the editor.</p>`;
};

// The text may have megabytes: it is taken out of the editor when the hands rest.
function typed(tools) {
  const { state } = tools;
  state.waiting = true;
  clearTimeout(state.timer);
  state.timer = setTimeout(
    () => {
      read(tools);
    },
    state.view.state.doc.length > limit / 32 ? 1500 : 300,
  );
}

const textOf = ({ view, text }) => (view ? view.state.doc.toString() : text);

// read makes the text the draft, where it can be read. What became of the draft while it could not be read stays: only what
// was typed is brought into it.
function read(tools) {
  const { ctx, state, key } = tools,
    { workspace } = ctx;
  if (state.waiting) state.text = textOf(state);
  state.waiting = false;
  try {
    const doc = shared(parse(tools.all, state.text, state.view?.state), workspace.doc),
      next = workspace.doc === state.doc ? doc : merge(state.doc, doc, workspace.doc).merged;
    Object.assign(state, { broken: "", shape: false });
    keep.remove(key);
    state.doc = isEqual(doc, workspace.doc) ? workspace.doc : doc;
    if (!isEqual(next, workspace.doc)) workspace.edit(() => next);
    follow(tools);
  } catch (error) {
    Object.assign(state, { broken: sentence(error), shape: Boolean(error.shape) });
    keep.set(key, { text: state.text, doc: state.doc });
  }
  ctx.update();
}

// parse reads a text, that of an editor or another one, and refuses what no page could show.
function parse(all, text, editor) {
  let doc;
  try {
    doc = JSON.parse(text);
  } catch (error) {
    const { line, column, words } = wrongAt(text, error);
    throw new Error(`line ${line}, column ${column}: ${words}`);
  }
  const twice = (editor ? duplicates(editor) : duplicatesIn(text))[0];
  if (twice)
    throw new Error(`line ${text.slice(0, twice.from).split("\n").length}: “${twice.name}” stands there twice`);
  const fault = shapeFault(all, doc);
  if (fault) throw Object.assign(new Error(fault.words), { shape: true });
  return doc;
}

// follow shows what other pages, an undo or a merge made of the draft.
function follow({ ctx, state }) {
  const { workspace } = ctx;
  if (state.view && workspace.checked !== state.checked) {
    state.checked = workspace.checked;
    recheck(state.view);
  }
  if (workspace.doc === state.doc || state.waiting || state.broken) return;
  state.doc = workspace.doc;
  state.text = write(workspace.doc);
  if (state.view) replace(state.view, state.text);
}

function diagnostics({ ctx, all, state }, view) {
  const { workspace } = ctx;
  let fault;
  try {
    fault = shapeFault(all, JSON.parse(view.state.doc.toString()));
  } catch (error) {
    const { at, words } = wrongAt(view.state.doc.toString(), error);
    return [{ from: at, to: at, severity: "error", message: sentence(words) }];
  }
  const twice = duplicates(view.state).map(({ from, to, name }) => ({
    from,
    to,
    severity: "error",
    message: `“${name}” stands here twice.`,
  }));
  if (fault)
    return [...twice, { ...placeOf(view.state, fault.path), severity: "error", message: sentence(fault.words) }];
  if (twice.length || workspace.checked !== workspace.doc || state.waiting) return twice;
  const found = (map, severity) =>
    [...map].map(([field, issue]) => ({
      ...placeOf(view.state, parsePath(field)),
      severity,
      message: `${field.split(".").at(-1)} ${issue}`,
    }));
  return [...found(workspace.problems, "error"), ...found(workspace.warnings, "warning")].sort(
    (a, b) => a.from - b.from,
  );
}

function about({ ctx, all }, editor, pos) {
  const { path } = pathAt(editor, pos, 1);
  return path.length ? (schemaAt(all, ctx.workspace.doc, path).description ?? "") : "";
}

function format({ ctx, state }) {
  state.text = write(ctx.workspace.doc);
  replace(state.view, state.text);
}

function save(name, text) {
  const link = Object.assign(document.createElement("a"), {
    href: URL.createObjectURL(new Blob([text], { type: "application/json" })),
    download: name,
  });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

function upload(tools, input) {
  const file = input.files[0];
  input.value = "";
  if (file) offer(tools, file);
}

// offer shows what a file would change before it becomes the draft.
async function offer(tools, file) {
  const { ctx, all, state } = tools,
    { workspace } = ctx,
    found = { error: null, doc: null, changes: [] };
  try {
    if (file.size > limit)
      throw new Error(`it has ${bytes(file.size)}, more than the ${bytes(limit)} that a manifest may have`);
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    found.doc = shared(parse(all, text), workspace.doc);
    found.changes = differences(workspace.doc, found.doc);
  } catch (error) {
    found.error = error instanceof TypeError ? new Error("it is not text in UTF-8") : error;
  }
  const take = await openDialog(
    ({ close }) => ({
      title: file.name,
      body: found.error
        ? html`<p class="notice bad" role="alert"><strong>This file cannot be used.</strong> ${sentence(found.error)} Nothing was changed.</p>`
        : html`${workspace.dirty ? html`<p class="notice wait">Your changes that are not applied are replaced; undo brings them back.</p>` : nothing}<h3>What it changes</h3>${differenceList(found.changes)}`,
      actions: html`<button type="button" class="button" @click=${() => close()}>${found.error ? "Close" : "Cancel"}</button>
      ${found.error ? nothing : html`<button type="button" class="button primary" autofocus @click=${() => close(true)}>Take it as the draft</button>`}`,
    }),
    { wide: true },
  );
  if (!take) return;
  Object.assign(state, { broken: "", waiting: false });
  workspace.edit(() => found.doc);
}
