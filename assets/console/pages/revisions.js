// Revisions: who changed the configuration, when and why; any two compared; any one restored.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { ref } from "../../vendor/lit-html/directives/ref.js";
import { get, query, request } from "../../shared/api.js";
import { attempt, openDialog, sentence, toast } from "../../shared/dialog.js";
import { ago, count, time } from "../../shared/format.js";
import { table } from "../../shared/rows.js";
import { fetchManifest } from "../../shared/workspace.js";
import { differenceList } from "../differences.js";

const size = 50;
const href = (n, other) => `/console/revisions/${n}${query({ with: other })}`;

export async function open(ctx) {
  const state = { rows: [], total: 0, chosen: new Set(), one: null, turn: 0, error: null };
  const load = async (now) => {
    const mine = ++state.turn,
      n = Number(now.path[0]);
    Object.assign(state, { one: null, error: null });
    try {
      const answer = now.path.length
        ? await revision(ctx.workspace.revision - n, n, Number(now.query.get("with")) || n - 1)
        : await get(`/account/manifest/revisions${query({ limit: size, skip: 0 })}`);
      if (mine !== state.turn) return;
      if (now.path.length) state.one = answer;
      else Object.assign(state, { rows: answer.results, total: answer.paging.totalElements });
    } catch (error) {
      if (mine !== state.turn) return;
      state.error = error;
    }
    ctx.update();
  };
  await load(ctx);
  if (state.error?.away) throw state.error; // the shell opens the page again when the service is back
  const tools = { ctx, state };
  return {
    get title() {
      return state.one ? `Revision ${state.one.n}` : "Revisions";
    },
    render: () =>
      state.error
        ? html`<p class="notice bad" role="alert">${sentence(state.error)} <a href="/console/revisions">All revisions</a></p>`
        : state.one
          ? one(tools)
          : listing(tools),
    changed: load,
  };
}

// back tells how many revisions ago it was; somebody may have applied a few more since.
async function revision(back, n, other) {
  const [{ results }, changes] = await Promise.all([
    get(`/account/manifest/revisions${query({ limit: size, skip: Math.max(0, back) })}`),
    other > 0
      ? get(`/account/manifest/revisions/${n}/changes${query({ from: other })}`).then((body) => body.result)
      : null,
  ]);
  const about = results.find((r) => r.revision === n);
  if (!about) throw new Error(`there is no revision ${n}`);
  return { n, other, about, changes, document: null };
}

function listing({ ctx, state }) {
  const chosen = [...state.chosen].sort((a, b) => a - b);
  const more = () =>
    attempt(async () => {
      const { results } = await get(`/account/manifest/revisions${query({ limit: size, skip: state.rows.length })}`);
      state.rows = [...state.rows, ...results];
      ctx.update();
    });
  return html`
    <div class="page-head"><h1>Revisions</h1><button type="button" class="button" ?disabled=${chosen.length !== 2} @click=${() => ctx.navigate(href(chosen[1], chosen[0]))}>Compare two</button>
      <p>Every configuration that was applied. None is ever overwritten.</p></div>
    ${table({
      rows: state.rows,
      caption: "Revisions",
      key: (r) => r.revision,
      selected: state.chosen,
      select: (keys) => {
        state.chosen = new Set(keys.slice(-2));
        ctx.update();
      },
      open: (r) => ctx.navigate(href(r.revision)),
      columns: [
        {
          name: "revision",
          label: "Revision",
          cell: (r) =>
            html`<a href=${href(r.revision)}>${r.revision}</a>${r.revision === ctx.workspace.revision ? html` <span class="chip plain">now</span>` : nothing}`,
        },
        {
          name: "createdAt",
          label: "When",
          cell: (r) => html`<time datetime=${r.createdAt} title=${ago(r.createdAt)}>${time(r.createdAt)}</time>`,
        },
        { name: "author", label: "Who", text: (r) => r.author },
        { name: "note", label: "Note", text: (r) => r.note },
      ],
    })}
    <p class="spread"><span class="muted">${state.rows.length} of ${count(state.total, "revision")}</span>${state.rows.length < state.total ? html`<button type="button" class="button" @click=${more}>Show more</button>` : nothing}</p>`;
}

function one({ ctx, state }) {
  const { n, other, about, changes } = state.one,
    now = ctx.workspace.revision;
  return html`
    <div class="page-head"><div><a href="/console/revisions">Revisions</a><h1>Revision ${n}</h1></div><div class="row">
        ${n > 1 ? html`<a class="button" href=${href(n - 1)}>Earlier</a>` : nothing}${n < now ? html`<a class="button" href=${href(n + 1)}>Later</a>` : nothing}
        ${n !== now && other !== now ? html`<a class="button" href=${href(n, now)}>Compare with now</a>` : nothing}
        <a class="button" href=${`/account/manifest/revisions/${n}`} download=${`${ctx.profile.accountId}-revision-${n}.json`}>Download</a>
        ${n !== now && !ctx.workspace.readOnly ? html`<button type="button" class="button primary" @click=${() => attempt(() => restore(ctx, n))}>Restore</button>` : nothing}</div>
      <p><span dir="auto">${about.author}</span>, ${time(about.createdAt)} (${ago(about.createdAt)})${about.note ? html`: <span class="wrap" dir="auto">${about.note}</span>` : nothing}</p></div>
    <section class="card stack"><h2>${other > 0 ? `From revision ${other} to revision ${n}` : "The first one"}</h2>${changes ? differenceList(changes.changes, changes.totalChanges) : html`<p class="muted">There was nothing before it.</p>`}</section>
    <section class="card stack"><div class="spread"><h2>Document</h2>${state.one.document ? nothing : html`<button type="button" class="button small" @click=${() => attempt(() => show(ctx, state.one))}>Show it${other > 0 ? ", with the differences" : ""}</button>`}</div>
      ${state.one.document ? html`<div class="editor" ${ref((host) => host && mount(host, state.one))}></div>` : nothing}</section>`;
}

const write = (doc) => JSON.stringify(doc, null, 2);

async function show(ctx, one) {
  const [{ mountEditor }, doc, before] = await Promise.all([
    import("../manifest/editor.js"),
    get(`/account/manifest/revisions/${one.n}`),
    one.other > 0 ? get(`/account/manifest/revisions/${one.other}`) : undefined,
  ]);
  one.document = { mountEditor, text: write(doc), original: before && write(before) };
  ctx.update();
}

function mount(host, { n, document }) {
  if (!host.shadowRoot)
    document.mountEditor(host, { text: document.text, original: document.original, label: `Revision ${n}` });
}

// restore shows first what going back would change, and changes nothing else: what is applied meanwhile is in its way.
async function restore(ctx, n) {
  const { workspace } = ctx,
    now = await fetchManifest(),
    changes = (await get(`/account/manifest/revisions/${n}/changes${query({ from: now.revision })}`)).result;
  const state = { note: `back to revision ${n}`, error: null, busy: false };
  const done = await openDialog(
    (control) => ({
      title: `Restore revision ${n}?`,
      body: html`<p>It is applied again as a new revision.${workspace.dirty ? " Your changes that are not applied stay, and are compared with it." : ""}</p>${differenceList(changes.changes, changes.totalChanges)}
      <div class="field"><label for="restore-note">Note</label><input id="restore-note" type="text" maxlength="200" dir="auto" .value=${state.note} @input=${(
        e,
      ) => {
        state.note = e.target.value;
      }}></div>
      ${state.error ? html`<p class="notice bad" role="alert">${sentence(state.error)}</p>` : nothing}
      ${state.error?.details?.length ? html`<ul class="problems">${state.error.details.map((d) => html`<li><code>${d.field}</code> ${d.issue}</li>`)}</ul>` : nothing}`,
      actions: html`<button type="button" class="button" @click=${() => control.close()}>Cancel</button>
      <button type="button" class="button primary" ?disabled=${state.busy} @click=${async () => {
        state.busy = true;
        control.update();
        try {
          control.close(
            (
              await request("POST", `/account/manifest/revisions/${n}/restore${query({ note: state.note.trim() })}`, {
                headers: { "If-Match": now.etag },
              })
            ).body.result,
          );
        } catch (error) {
          Object.assign(state, { error, busy: false });
          control.update();
        }
      }}>Restore</button>`,
    }),
    { wide: true },
  );
  if (!done) return;
  toast(`Revision ${n} is restored as revision ${done.revision}.`);
  await workspace.look();
  ctx.navigate("/console/revisions");
}
