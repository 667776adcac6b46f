// What the service said in the last day.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { get, query } from "../../shared/api.js";
import { attempt } from "../../shared/dialog.js";
import { segmented } from "../../shared/form.js";
import { time } from "../../shared/format.js";
import { table } from "../../shared/rows.js";

const size = 200,
  every = 5000; // lines; milliseconds

const levels = { error: "state bad", warn: "state wait", info: "state", debug: "state" };

export async function open(ctx) {
  const state = { rows: [], level: "info", more: true, turn: 0, older: false };
  const load = async (before) => {
    const mine = ++state.turn;
    state.older = Boolean(before);
    const { results } = await get(`/appliance/log${query({ limit: size, level: state.level, before })}`).catch(
      (error) => {
        if (mine === state.turn) state.older = state.rows.length > size;
        throw error;
      },
    );
    if (mine !== state.turn) return;
    state.rows = before ? [...state.rows, ...results] : results;
    state.more = results.length === size;
    ctx.update();
  };
  const choose = (level) => {
    state.level = level;
    attempt(() => load());
  };
  // New lines come by themselves, until somebody looks at older ones.
  const timer = setInterval(() => {
    if (document.visibilityState === "visible" && !state.older) load().catch(() => {});
  }, every);
  await load();
  return { title: "Log", render: () => page(state, load, choose), leave: () => clearInterval(timer) };
}

const page = (state, load, choose) => html`
  <div class="page-head"><h1>Log</h1>${segmented({
    name: "level",
    label: "Least level",
    value: state.level,
    change: choose,
    options: [
      { value: "error", label: "Errors" },
      { value: "warn", label: "Warnings" },
      { value: "info", label: "All" },
    ],
  })}
    <p>The last day, as far as this program has run. The whole log is with the operating system.</p></div>
  ${table({
    rows: state.rows,
    caption: "Log",
    key: (r) => r.id,
    empty: "Nothing of this level was said.",
    columns: [
      { name: "at", label: "When", cell: (r) => html`<time datetime=${r.at}>${time(r.at, { seconds: true })}</time>` },
      { name: "level", label: "Level", cell: (r) => html`<span class=${levels[r.level]}>${r.level}</span>` },
      { name: "message", label: "Message", cell: (r) => html`<span dir="auto" class="wrap">${r.message}</span>` },
      {
        name: "attributes",
        label: "Details",
        cell: (r) =>
          html`<code class="small wrap">${Object.entries(r.attributes ?? {})
            .map(([name, value]) => `${name}=${value}`)
            .join("  ")}</code>`,
      },
    ],
  })}
  ${state.more ? html`<button type="button" class="button" @click=${() => attempt(() => load(state.rows.at(-1).id))}>Older</button>` : nothing}`;
