// Backups: made, fetched, verified, scheduled, and put back.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { del, get, post, put, request } from "../../shared/api.js";
import { ask, clean } from "../../shared/ask.js";
import { confirm, openDialog, sentence, toast } from "../../shared/dialog.js";
import { ago, bytes, count, number, time } from "../../shared/format.js";
import { table } from "../../shared/rows.js";

const origins = {
  scheduled: "scheduled",
  manual: "made by hand",
  upgrade: "before an upgrade",
  uploaded: "from elsewhere",
};

/** How often the list is asked for while something goes on, and while nothing does, in milliseconds. */
const soon = 1500,
  later = 20000;

export async function open(ctx) {
  const state = {
    overview: null,
    appliance: null,
    making: false,
    sending: null,
    sort: { by: "madeAt", down: true },
    timer: 0,
    gone: false,
  };
  const load = async () => {
    const [backups, appliance] = await Promise.all([get("/backup"), get("/appliance")]);
    Object.assign(state, { overview: backups.result, appliance: appliance.result });
    if (!state.gone) ctx.update();
  };
  const again = () => {
    clearTimeout(state.timer);
    if (state.gone) return;
    const busy = state.overview?.running || state.overview?.restore?.state === "running" || state.making;
    state.timer = setTimeout(
      () =>
        load()
          .catch(() => {})
          .finally(again),
      busy ? soon : later,
    );
  };
  const tools = { ctx, state, load, again };
  await load();
  again();
  return {
    title: "Backups",
    render: () => page(tools),
    leave: () => {
      state.gone = true;
      clearTimeout(state.timer);
    },
  };
}

function page(tools) {
  const { state } = tools,
    { overview, appliance } = state;
  return html`
    <div class="page-head"><h1>Backups</h1><div class="row">
      <label class="button">Bring a backup<input type="file" class="visually-hidden" @change=${(e) => bring(tools, e.target)}></label>
      <button type="button" class="button primary" ?disabled=${state.making} @click=${() => make(tools)}>${state.making ? "Making a backup …" : "Back up now"}</button></div></div>
    ${overview.problem ? html`<div class="notice bad" role="alert"><strong>The scheduled backups need a person.</strong> ${sentence({ message: overview.problem })}</div>` : nothing}
    ${state.sending ? html`<p class="notice" role="status">Sending ${state.sending} …</p>` : nothing}
    ${restoreNotice(overview.restore)}
    <div class="cards">
      <section class="card stack"><h2>Now</h2><dl class="facts">
        <dt>Last scheduled</dt><dd>${overview.lastAt ? html`<span class=${overview.overdue ? "state wait" : "state ok"} title=${time(overview.lastAt)}>${ago(overview.lastAt)}</span>` : html`<span class="state wait">none yet</span>`}</dd>
        <dt>Next</dt><dd>${overview.running ? "is being made" : overview.nextAt ? html`${time(overview.nextAt)} <span class="muted">(${ago(overview.nextAt)})</span>` : overview.scheduled ? "as soon as possible" : html`<span class="state wait">none is scheduled</span>`}</dd>
        <dt>Folder</dt><dd><code>${overview.folder}</code></dd>
        <dt>Encrypted</dt><dd>${appliance.backup.encrypted ? "yes" : html`no <span class="muted">(without a passphrase the secret keys of certificates are left out)</span>`}</dd></dl></section>
      ${scheduleCard(tools)}
    </div>
    ${table({
      rows: overview.backups,
      caption: "Backups",
      key: (b) => b.name,
      state: state.sort,
      changed: tools.ctx.update,
      empty: "There is no backup yet.",
      columns: [
        {
          name: "madeAt",
          label: "Made",
          text: (b) => b.madeAt,
          cell: (b) => html`<span title=${ago(b.madeAt)}>${time(b.madeAt)}</span>`,
        },
        {
          name: "name",
          label: "Name",
          text: (b) => b.name,
          cell: (b) =>
            html`<bdi class="wrap">${b.name}</bdi>${b.problem ? html`<br><span class="state bad small">${b.problem}</span>` : nothing}${b.unusableSettings ? html`<br><span class="state wait small">its settings could not be used</span>` : nothing}`,
        },
        { name: "bytes", label: "Size", numeric: true, text: (b) => b.bytes, cell: (b) => bytes(b.bytes) },
        {
          name: "origin",
          label: "Origin",
          text: (b) => origins[b.origin] ?? b.origin,
          cell: (b) =>
            html`${origins[b.origin] ?? b.origin}${b.encrypted ? html`<br><span class="muted small">encrypted</span>` : nothing}`,
        },
        { name: "app", label: "Version", text: (b) => b.app },
        {
          name: "actions",
          label: "",
          cell: (
            b,
          ) => html`<div class="row actions"><a class="button small" href=${`/backup/${encodeURIComponent(b.name)}`} download=${b.name}>Download</a>
          <button type="button" class="button small" @click=${() => verify(b)} aria-label=${`Verify ${b.name}`}>Verify</button>
          <button type="button" class="button small" @click=${() => restore(tools, b)} aria-label=${`Restore ${b.name}`}>Restore</button>
          <button type="button" class="button small" @click=${() => remove(tools, b)} aria-label=${`Remove ${b.name}`}>Remove</button></div>`,
        },
      ],
    })}`;
}

function scheduleCard(tools) {
  const { settings, fixed } = tools.state.appliance.backup;
  const kept = [
    ["daily", settings.keepDaily],
    ["weekly", settings.keepWeekly],
    ["monthly", settings.keepMonthly],
  ]
    .filter(([, n]) => n > 0)
    .map(([word, n]) => `${n} ${word}`)
    .join(", ");
  return html`<section class="card stack"><div class="spread"><h2>Schedule</h2><button type="button" class="button small" @click=${() => schedule(tools)}>Change</button></div>
    <dl class="facts"><dt>When</dt><dd>${settings.every === 0 ? "never" : `${settings.every === 1 ? "every day" : `every ${count(settings.every, "day")}`} at ${settings.at}`}</dd>
      <dt>Kept</dt><dd>${kept || "none"}</dd><dt>Space</dt><dd>${settings.maxBytes ? `at most ${bytes(settings.maxBytes)}` : "no limit"}</dd></dl>
    ${
      Object.keys(fixed).length
        ? html`<p class="muted small">Set outside of this page: ${Object.entries(fixed)
            .map(([name, by]) => `${name} by ${by}`)
            .join(", ")}.</p>`
        : nothing
    }</section>`;
}

async function schedule(tools) {
  const { settings, fixed } = tools.state.appliance.backup;
  const whole = (name, label, hint) => ({
    name,
    label,
    hint,
    kind: "integer",
    required: true,
    disabled: name in fixed,
  });
  const saved = await ask({
    title: "Schedule of backups",
    values: { ...settings, maxBytes: settings.maxBytes / 2 ** 30 || null },
    intro: "Times are of the machine's own clock. It counts at once, and is written into app.yaml.",
    send: (values) => {
      const wanted = { ...values, maxBytes: Math.round((values.maxBytes ?? 0) * 2 ** 30) };
      return put(
        "/appliance/backup-settings",
        Object.fromEntries(Object.entries(wanted).filter(([name, value]) => value !== settings[name])),
      );
    },
    fields: () => [
      { name: "at", label: "Time of day", hint: "Such as 01:30.", required: true, disabled: "at" in fixed },
      whole("every", "Days from one to the next", "1 is every day; 0 makes none."),
      whole("keepDaily", "Daily ones that are kept", ""),
      whole("keepWeekly", "Weekly ones that are kept", ""),
      whole("keepMonthly", "Monthly ones that are kept", ""),
      {
        name: "maxBytes",
        label: "Space for all of them (GiB)",
        hint: "Not set: no limit.",
        kind: "number",
        disabled: "maxBytes" in fixed,
      },
    ],
  });
  if (saved) {
    toast("The schedule is changed.");
    await tools.load();
  }
}

async function make({ ctx, state, load, again }) {
  state.making = true;
  ctx.update();
  again();
  try {
    const { result } = await post("/backup");
    toast(`The backup ${result.name} is made and verified (${bytes(result.bytes)}).`);
  } catch (error) {
    toast(sentence(error), "bad");
  }
  state.making = false;
  await load().catch(() => {});
}

const longest = 100; // characters of a name, which has 128 with what is put before and behind it

/**
 * nameFor gives the name that a file gets here, of the letters that one may have: those of this machine's own backups are kept
 * for them, a browser numbers what is downloaded twice ("… (1).backup", "….backup(1)"), and what is in the folder stays. day is
 * that of a file whose name has no such letter.
 */
export function nameFor(file, taken, day) {
  const stem = file.replace(/\s*\(\d+\)(?=(\.backup)?$)/i, "").replace(/\.backup$/i, "");
  const left = stem
    .normalize("NFD")
    .replace(/\p{M}+/gu, "")
    .replace(/[^\w.-]+/g, "-")
    .slice(0, longest)
    .replace(/^[.-]+|[.-]+$/g, "");
  const plain = !left || /^(app|manual)-/.test(left) ? `brought-${left || day}` : left;
  for (let n = 1; ; n++) {
    const name = `${plain}${n > 1 ? `-${n}` : ""}.backup`;
    if (!taken.some((other) => other.toLowerCase() === name.toLowerCase())) return name;
  }
}

async function bring({ ctx, state, load }, input) {
  const file = input.files[0];
  input.value = "";
  if (!file) return;
  const name = nameFor(
    file.name,
    state.overview.backups.map((b) => b.name),
    new Date().toLocaleDateString("sv"),
  ); // 2026-03-01
  state.sending = `${file.name} (${bytes(file.size)})`;
  ctx.update();
  try {
    await request("PUT", `/backup/${encodeURIComponent(name)}`, {
      body: file,
      headers: { "Content-Type": "application/octet-stream" },
    });
    toast(`${name} is here. Verify it before you rely on it.`);
  } catch (error) {
    toast(sentence(error), "bad");
  }
  state.sending = null;
  await load().catch(() => {});
}

const passphrase = (backup) =>
  backup.encrypted
    ? [{ name: "passphrase", label: "Passphrase", kind: "password", hint: "Not set: the one of scheduled backups." }]
    : [];

// What people know of what a backup counts, which is by kinds of records.
const held = {
  account: "Accounts",
  authUser: "Users",
  authKey: "API keys",
  authTablet: "Tablets",
  authDevice: "Devices",
  revision: "Revisions",
  schedule: "Schedules",
  issue: "Stops",
  audit: "Audit records",
};

async function verify(backup) {
  const run = (values) => post(`/backup/${encodeURIComponent(backup.name)}/verify`, clean(values));
  const late = ({ result }) =>
    toast(
      `The backup ${backup.name} is whole (${count(
        Object.values(result.counts).reduce((sum, n) => sum + n, 0),
        "record",
      )}).`,
    );
  const answer = backup.encrypted
    ? await ask({ title: `Verify ${backup.name}`, action: "Verify", fields: () => passphrase(backup), send: run, late })
    : await openDialog((control) =>
        working(
          control,
          `Verify ${backup.name}`,
          "Every byte of it is read, and the store in it is opened, checked and counted.",
          () => run({}),
          late,
        ),
      );
  if (!answer?.result) return;
  const { result } = answer;
  await openDialog(({ close }) => ({
    title: "The backup is whole",
    body: html`<dl class="facts"><dt>Made</dt><dd>${time(result.madeAt)} by version ${result.app}</dd>${Object.entries(held).map(([name, word]) => (name in result.counts ? html`<dt>${word}</dt><dd>${number(result.counts[name])}</dd>` : nothing))}
      <dt>In all</dt><dd>${count(
        Object.values(result.counts).reduce((sum, n) => sum + n, 0),
        "record",
      )}</dd></dl>
      ${result.omitted.length ? html`<p class="notice wait">${backup.encrypted ? "These were left out" : "It is not encrypted, so these were left out"}: ${result.omitted.join(", ")}.</p>` : nothing}`,
    actions: html`<button type="button" class="button primary" autofocus @click=${() => close()}>Close</button>`,
  }));
}

// working runs something once while a dialog tells that it goes on; what goes wrong stays in it. late gets what comes after it was left.
function working(control, title, text, run, late) {
  if (!control.begun) {
    control.begun = true;
    run().then(
      (answer) => (control.element.open ? control.close(answer) : late(answer)),
      (error) => {
        control.error = error;
        control.tell(error);
      },
    );
  }
  return {
    title,
    body: control.error
      ? html`<p class="notice bad" role="alert">${sentence(control.error)}</p>`
      : html`<p role="status">${text}</p>`,
    actions: html`<button type="button" class="button" @click=${() => control.close()}>${control.error ? "Close" : "Leave it running"}</button>`,
  };
}

async function restore({ ctx, load, again }, backup) {
  const begun = await ask({
    title: `Restore ${backup.name}?`,
    action: "Restore",
    values: {},
    intro: html`<span class="notice bad block"><strong>All accounts go back to ${time(backup.madeAt)}.</strong> Whatever was changed or recorded since then is lost. Everybody is signed out, you too; tablets must be paired again; API keys work as they did then. The service is away for a moment.
      What is there now is kept on the machine as a file, and comes back by itself when the service does not get ready.</span>`,
    fields: () => [
      { name: "confirm", label: "Type the name of the backup", hint: backup.name, required: true, autofocus: true },
      ...passphrase(backup),
      {
        name: "withoutSettings",
        label: "Without the settings of the backup",
        kind: "boolean",
        hint: "For a backup whose settings cannot be used on this computer. It keeps its own.",
      },
    ],
    send: (values) => post(`/backup/${encodeURIComponent(backup.name)}/restore`, clean(values)),
  });
  if (!begun) return;
  toast("The restore has begun.");
  await load().catch(() => {});
  ctx.update();
  again();
}

async function remove({ load }, backup) {
  if (
    !(await confirm({
      title: `Remove ${backup.name}?`,
      text: `It was made ${ago(backup.madeAt)}. It cannot be brought back.`,
      action: "Remove",
      danger: true,
    }))
  )
    return;
  try {
    await del(`/backup/${encodeURIComponent(backup.name)}`);
    toast("The backup is removed.");
  } catch (error) {
    toast(sentence(error), "bad");
  }
  await load().catch(() => {});
}

function restoreNotice(last) {
  if (!last) return nothing;
  if (last.error)
    return html`<div class="notice bad" role="alert"><strong>Restoring ${last.name} failed.</strong> ${sentence({ message: last.error })} What was there before is in its place.</div>`;
  if (!last.endedAt)
    return html`<div class="notice wait" role="status"><strong>${last.name} is being restored.</strong> Begun ${ago(last.startedAt)}.</div>`;
  return html`<div class="notice ok"><strong>${last.name} was restored</strong> ${ago(last.endedAt)}. The store has the state of ${time(last.result?.madeAt)}.
    ${last.result?.newAuthority ? "The certificate authority is a new one: devices must trust it again (page /trust)." : nothing}
    ${last.result?.settings === "left" ? "The settings were left in the backup: those of this computer apply." : nothing}
    ${last.result?.brought.length ? html`<p>The settings name files that cannot be read on this machine. Those that came with the backup are used instead from the next start:</p><ul>${last.result.brought.map(({ setting, path, instead }) => html`<li>${setting}: <code class="wrap">${path}</code> instead of <code class="wrap">${instead}</code></li>`)}</ul>` : nothing}
    ${last.result?.missing.length ? html`<p>The settings name files that are not in the backup and cannot be read on this machine. Bring them before the next start:</p><ul>${last.result.missing.map((path) => html`<li><code class="wrap">${path}</code></li>`)}</ul>` : nothing}</div>`;
}
