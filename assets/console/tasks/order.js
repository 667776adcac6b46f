// The order of Tasks in a list: numbers above 0 and at most 100, decimals allowed (http-api.md section 2.3).

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { repeat } from "../../vendor/lit-html/directives/repeat.js";
import { brief } from "../../shared/brief.js";
import { updateIn } from "../../shared/document.js";
import { number } from "../../shared/format.js";

const most = 100;
const entry = (task, code) => task.taskListCodes?.find((l) => l.code === code);

/** ordered lists the Tasks of a list as the tablet shows them. */
export const ordered = (tasks, code) =>
  (tasks ?? [])
    .filter((t) => entry(t, code))
    .map((t, i) => [t, i])
    .toSorted(([a, i], [b, j]) => (entry(a, code).order ?? Infinity) - (entry(b, code).order ?? Infinity) || i - j)
    .map(([t]) => t);

/** place gives an order number for one more Task at the end of a list, whose Tasks are inside: above all that have one. */
export const place = (inside, code) =>
  Math.min(most, Math.floor(Math.max(0, ...inside.map((t) => entry(t, code).order ?? 0))) + 1);

/** take puts a Task into a list, at its end. */
export function take(workspace, task, code) {
  workspace.edit((doc) => {
    const at = place(ordered(doc.account.tasks, code), code);
    return updateIn(doc, ["account", "tasks"], (list) =>
      list.map((t) =>
        t.code === task ? { ...t, taskListCodes: [...(t.taskListCodes ?? []), { code, order: at }] } : t,
      ),
    );
  });
}

// arrange numbers the Tasks of a list anew, in the order of their codes.
function arrange(workspace, code, codes) {
  const step = codes.length > most ? most / codes.length : 1,
    order = new Map(codes.map((c, i) => [c, Math.round((i + 1) * step * 1000) / 1000]));
  workspace.edit((doc) =>
    updateIn(doc, ["account", "tasks"], (list) =>
      list.map((t) => {
        const now = entry(t, code);
        return now && now.order !== order.get(t.code)
          ? { ...t, taskListCodes: t.taskListCodes.map((l) => (l === now ? { ...l, order: order.get(t.code) } : l)) }
          : t;
      }),
    ),
  );
}

/** inOrder shows the Tasks of a list, to be dragged or moved by keyboard. */
export function inOrder({ ctx, state }, code, inside, href) {
  const { workspace } = ctx,
    codes = inside.map((t) => t.code);
  const move = (from, to) => {
    if (to >= 0 && to < codes.length && to !== from)
      arrange(workspace, code, codes.toSpliced(from, 1).toSpliced(to, 0, codes[from]));
  };
  const keys = (e, i) => {
    const by = e.altKey && { ArrowUp: -1, ArrowDown: 1 }[e.key];
    if (!by || workspace.readOnly) return;
    e.preventDefault();
    move(i, i + by);
    queueMicrotask(() =>
      queueMicrotask(() =>
        document.querySelectorAll(".ordered > li")[Math.max(0, Math.min(codes.length - 1, i + by))]?.focus(),
      ),
    );
  };
  const leave = (task) =>
    workspace.edit((doc) =>
      updateIn(doc, ["account", "tasks"], (list) =>
        list.map((t) =>
          t.code === task.code ? { ...t, taskListCodes: t.taskListCodes.filter((l) => l.code !== code) } : t,
        ),
      ),
    );
  if (!inside.length) return html`<p class="muted">No Task is in it yet.</p>`;
  return html`<ol class="ordered">${repeat(
    inside,
    (t) => t.code,
    (
      t,
      i,
    ) => html`<li tabindex="0" draggable=${workspace.readOnly ? "false" : "true"} class=${state.over === i ? "over" : ""} @keydown=${(e) => keys(e, i)}
      @dragstart=${(e) => {
        state.dragged = i;
        e.dataTransfer.setData("text/plain", t.code);
      }} @dragover=${(e) => {
        if (state.dragged === undefined) return;
        e.preventDefault();
        if (state.over !== i) {
          state.over = i;
          ctx.update();
        }
      }}
      @dragend=${() => {
        Object.assign(state, { dragged: undefined, over: undefined });
        ctx.update();
      }} @drop=${(e) => {
        e.preventDefault();
        move(state.dragged, i);
        Object.assign(state, { dragged: undefined, over: undefined });
        ctx.update();
      }}>
      <span class="muted order">${number(entry(t, code).order)}</span><a href=${href(t.code)}>${brief(t.title || t.code)}</a><code class="muted small">${t.code}</code>
      ${
        workspace.readOnly
          ? nothing
          : html`<span class="row actions"><button type="button" class="icon-button" aria-label=${`Move ${t.title} up`} ?disabled=${i === 0} @click=${() => move(i, i - 1)}>↑</button><button type="button" class="icon-button" aria-label=${`Move ${t.title} down`} ?disabled=${i === codes.length - 1} @click=${() => move(i, i + 1)}>↓</button>
        <button type="button" class="icon-button" aria-label=${`Take ${t.title} out of the list`} @click=${() => leave(t)}>✕</button></span>`
      }</li>`,
  )}</ol>
    ${workspace.readOnly ? nothing : html`<p class="muted small no-print">Drag to put them in order; with the keyboard: Alt and the arrow keys.</p>`}`;
}
