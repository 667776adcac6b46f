// What is changed and not applied: the bar at the foot of each page, the review before applying, and the merge with what
// somebody else applied meanwhile.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { confirm, openDialog, sentence, toast } from "../shared/dialog.js";
import { pathText } from "../shared/document.js";
import { ago, count } from "../shared/format.js";
import { segmented } from "../shared/form.js";
import { differenceList, showValue } from "./differences.js";
import { hrefOf, placeText } from "./where.js";

/** changesBar shows what waits to be applied, and nothing when there is nothing. */
export function changesBar(workspace, ctx) {
  const dirty = workspace.dirty,
    theirs = workspace.theirs,
    again = workspace.discarded || workspace.canRedo;
  if (!dirty && !theirs && !workspace.merged && !again) return nothing;
  const changes = workspace.changes().length,
    problems = workspace.problems.size;
  return html`<aside class="changes" aria-label="Changes that are not applied">
    ${
      theirs
        ? html`<p class="changes-theirs"><strong dir="auto">${theirs.author}</strong> applied revision ${theirs.revision} ${ago(theirs.createdAt)}. Your changes start from revision ${workspace.revision}.
      <button type="button" class="button" @click=${() => mergeDialog(workspace)}>See and merge</button></p>`
        : nothing
    }
    ${workspace.merged && !theirs ? html`<p class="muted">${count(workspace.merged.count, "change")} by <span dir="auto">${workspace.merged.author}</span> (revision ${workspace.merged.revision}) ${workspace.merged.count === 1 ? "is" : "are"} merged in.</p>` : nothing}
    ${
      dirty || again
        ? html`<div class="changes-row">
      <span role="status">${dirty ? html`<strong>${count(changes, "change")}</strong> not applied` : "Nothing to apply"}
        ${problems ? html`· <button type="button" class="link bad" @click=${() => review(workspace, ctx)}>${count(problems, "problem")}</button>` : workspace.checking ? html`<span class="muted">· checking …</span>` : nothing}</span>
      <span class="changes-actions">
        <button type="button" class="button" ?disabled=${!workspace.canUndo} @click=${() => workspace.undo()}>Undo</button>
        <button type="button" class="button" ?disabled=${!workspace.canRedo} @click=${() => workspace.redo()}>Redo</button>
        <button type="button" class="button" ?disabled=${!dirty} @click=${() => discard(workspace, changes)}>Discard</button>
        <button type="button" class="button primary" ?disabled=${!dirty || Boolean(theirs)} @click=${() => review(workspace, ctx)}>Review and apply</button>
      </span></div>`
        : nothing
    }
  </aside>`;
}

async function discard(workspace, changes) {
  if (
    await confirm({
      title: "Discard changes?",
      text: `${count(changes, "change")} of yours ${changes === 1 ? "is" : "are"} not applied. ${workspace.theirs ? `The page then shows revision ${workspace.theirs.revision}; this cannot be undone.` : `Undo brings ${changes === 1 ? "it" : "them"} back until you leave the page.`}`,
      action: "Discard",
      danger: true,
    })
  )
    workspace.discard();
}

/** review shows what applying changes, in the service's own words, and applies it. */
export async function review(workspace, ctx) {
  const state = { result: null, error: null, busy: true, note: "", doc: null };
  const ask = async (control) => {
    Object.assign(state, { busy: true, error: null, unknown: false, result: null, doc: workspace.doc });
    control.update();
    try {
      state.result = await workspace.check();
    } catch (error) {
      state.error = error;
    }
    state.busy = false;
    if (control.element.isConnected) control.update();
  };
  const apply = async (control) => {
    if (workspace.doc !== state.doc) return ask(control); // another tab changed it: only what was looked at is applied
    Object.assign(state, { busy: true, error: null, unknown: false, revision: workspace.revision });
    control.update();
    try {
      const result = await workspace.apply(state.note.trim());
      toast(result.changed ? `Applied as revision ${result.revision}.` : "Nothing had changed.");
      control.close(true);
    } catch (error) {
      Object.assign(state, {
        error,
        busy: false,
        unknown: error.status === 0,
        result: error.status === 400 ? null : state.result,
      });
      control.update();
    }
  };
  // The answer was lost: what is applied by now tells what it was. A draft that is gone may have been discarded in another tab.
  const settle =
    (control) =>
    ({ type }) => {
      const another = workspace.revision !== state.revision;
      if (type === "same" && !another) state.unknown = false;
      if (!state.unknown || !another || workspace.dirty) return control.update();
      toast(`It was applied as revision ${workspace.revision}.`);
      return control.close(true);
    };
  let asked = null;
  return openDialog(
    (control) => {
      if (!asked) {
        asked = settle(control);
        for (const event of ["change", "same"]) workspace.addEventListener(event, asked);
        queueMicrotask(() => ask(control));
      }
      return {
        title: "Review and apply",
        body: reviewBody(workspace, ctx, state, control),
        actions: html`<button type="button" class="button" @click=${() => control.close()}>Back</button>
        <button type="button" class="button primary" ?disabled=${state.busy || !state.result || Boolean(workspace.theirs)} @click=${() => apply(control)}>${state.busy && state.result ? "Applying …" : "Apply"}</button>`,
      };
    },
    { wide: true },
  ).finally(() => {
    for (const event of ["change", "same"]) workspace.removeEventListener(event, asked);
  });
}

function reviewBody(workspace, ctx, state, control) {
  const error =
    state.error &&
    html`<div class="notice bad" role="alert"><strong>${workspace.theirs ? "Somebody else was faster." : state.unknown ? "It is not known whether this was applied." : "This was not applied."}</strong> ${sentence(state.error)}${state.unknown && !workspace.theirs ? " This page finds out when it answers again." : ""}
    ${
      workspace.theirs
        ? html`<p><button type="button" class="button" @click=${() => {
            control.close();
            mergeDialog(workspace);
          }}>See and merge</button></p>`
        : nothing
    }</div>`;
  if (state.busy && !state.result) return html`<p class="muted" role="status">Checking …</p>`;
  if (!state.result) {
    return html`${error ?? nothing}${
      workspace.problems.size
        ? html`<div class="notice bad" role="alert"><strong>${count(workspace.problems.size, "problem")} must be mended first.</strong> Nothing was changed.</div>
      <ul class="problems">${[...workspace.problems].map(([field, issue]) => html`<li><a href=${hrefOf(workspace, field)} @click=${() => control.close()}><code>${placeText(workspace.doc, field) || "the document"}</code></a> ${issue}</li>`)}</ul>`
        : nothing
    }`;
  }
  const { changes, totalChanges, warnings } = state.result;
  return html`${error ?? nothing}
    ${warnings.length ? html`<div class="notice wait"><strong>${count(warnings.length, "warning")}: it can be applied, but look at it.</strong><ul>${warnings.map((w) => html`<li><a href=${hrefOf(workspace, w.field)} @click=${() => control.close()}><code>${placeText(workspace.doc, w.field) || "the document"}</code></a> ${w.issue}</li>`)}</ul></div>` : nothing}
    ${differenceList(changes, totalChanges)}
    <div class="field"><label for="note">Note</label><input id="note" type="text" maxlength="200" dir="auto" autocomplete="off" .value=${state.note} @input=${(
      e,
    ) => {
      state.note = e.target.value;
    }} placeholder="Why, in a few words">
      <p class="hint">Shown beside the revision; at most 200 characters.</p></div>`;
}

/** mergeDialog shows what somebody else applied and brings it into the draft; where both changed the same thing it asks. */
function mergeDialog(workspace) {
  let compared,
    sides,
    anew = false;
  const compare = () => {
    compared = workspace.compare();
    sides = compared.conflicts.map(() => null);
  };
  const take = (control) => {
    if (workspace.take(compared, sides) || !workspace.theirs) return control.close(true);
    anew = true;
    compare();
    control.update();
  };
  compare();
  return openDialog(
    (control) => ({
      title: `Revision ${compared.theirs.revision} by ${compared.theirs.author}`,
      body: html`${anew ? html`<p class="notice wait" role="alert">Something was changed meanwhile. This is how it is now.</p>` : nothing}${mergeBody(compared, sides, control)}`,
      actions: html`<button type="button" class="button" @click=${() => control.close()}>Later</button>
      <button type="button" class="button primary" ?disabled=${sides.includes(null)} @click=${() => take(control)}>Merge into my changes</button>`,
    }),
    { wide: true },
  );
}

const mergeBody = ({ theirs, changes, conflicts }, sides, control) => html`
  ${theirs.note ? html`<p class="muted" dir="auto">“${theirs.note}”</p>` : nothing}
  <h3>What ${theirs.author} changed</h3>${differenceList(changes, changes.length)}
  ${
    conflicts.length
      ? html`<h3>Changed by both of you</h3><p>Choose for each which one to keep.</p>
    ${
      conflicts.length > 1
        ? html`<p class="row">${[
            ["mine", "Keep all of mine"],
            ["theirs", "Take all of theirs"],
          ].map(
            ([side, label]) =>
              html`<button type="button" class="button small" @click=${() => {
                sides.fill(side);
                control.update();
              }}>${label}</button>`,
          )}</p>`
        : nothing
    }
    ${conflicts.map(
      (
        c,
        i,
      ) => html`<div class="conflict"><code>${pathText(c.path)}</code>${c.order ? html` <span class="muted">the order</span>` : nothing}
      <dl>${[
        ["Before", c.base],
        ["Yours", c.mine],
        [theirs.author, c.theirs],
      ].map(
        ([who, value]) => html`<div><dt dir="auto">${who}</dt><dd>${showValue(value, c.path.at(-1))}</dd></div>`,
      )}</dl>
      ${segmented({
        name: `c${i}`,
        label: pathText(c.path),
        value: sides[i],
        options: [
          { value: "mine", label: "Keep mine" },
          { value: "theirs", label: "Take theirs" },
        ],
        change: (side) => {
          sides[i] = side;
          control.update();
        },
      })}</div>`,
    )}`
      : html`<p>None of it touches what you changed. Merged, both stay.</p>`
  }`;
