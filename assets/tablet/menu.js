// The menu's sheets: which station, what is switched off and by whom, what waits to be sent.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { compare, count, matches, time } from "../shared/format.js";
import { statusOf } from "../shared/status.js";
import { connection } from "../shared/api.js";
import { live } from "../shared/live.js";
import { flags } from "./flags.js";
import { queue } from "./queue.js";
import { sheet, sure } from "./sheets.js";

// levelOf names the level that decided, as people there call it.
const levelOf = (level, { plant, group, name }) =>
  ({
    account: html`Off for the whole account.`,
    plant: html`Off for the plant <bdi>${plant.name}</bdi>.`,
    group: html`Off for the group <bdi>${group.name}</bdi>.`,
    station: html`Off for the station <bdi>${name}</bdi>.`,
  })[level] ?? html`No level has switched it on.`;

/** switchedOff shows which controls are off, and which level switched each one off. */
export function switchedOff(station) {
  const { config } = station,
    off = flags.filter(([name]) => !station.flag(name));
  return sheet(({ close }) => ({
    title: "What is switched off?",
    body:
      off.length === 0
        ? html`<p>Nothing: all that a tablet can do is on at ${config.name}.</p>`
        : html`<ul class="list off">${off.map(([name, label]) => html`<li class="entry" data-flag=${name}><div class="entry-text"><h3>${label}</h3><p class="muted">${levelOf(config.flags[name]?.from, config)}</p></div></li>`)}</ul>
        <p class="muted">Whoever looks after the configuration can switch it on in the console.</p>`,
    actions: html`<button type="button" autofocus class="button large" @click=${() => close()}>Back</button>`,
  }));
}

/** chooseStation lets one of several stations be shown: it gives its code. */
export function chooseStation(codes, current) {
  return sheet(({ close }) => ({
    title: "Which station?",
    body: html`<div class="tiles">${codes.map((code) => {
      const s = live.stations.get(code),
        status = statusOf(s?.statusCode, s?.noSignalYet);
      return html`<button type="button" class="tile" data-station-choice=${code} aria-pressed=${String(code === current)} @click=${() => close(code)}><span dir="auto">${s?.name ?? code}</span>${s ? html`<small class=${`status ${status.color}`}><span aria-hidden="true">${status.sign}</span> ${status.label}</small>` : nothing}</button>`;
    })}</div>`,
    actions: html`<button type="button" class="button large" @click=${() => close()}>Back</button>`,
  }));
}

/** pickStations lets somebody choose the stations of this tablet: it gives their codes. all is as GET /station gives them. */
export function pickStations(all, chosen) {
  const codes = new Set(chosen);
  let search = "";
  return sheet(({ close, update }) => {
    const found = all
      .filter((s) => !search.trim() || matches(search, s.name, s.stationCode, s.groupCode, s.plantCode))
      .sort(
        (a, b) => compare(a.plantCode, b.plantCode) || compare(a.groupCode, b.groupCode) || compare(a.name, b.name),
      );
    return {
      title: "Which stations does this tablet stand at?",
      body: html`${
        all.length > 12
          ? html`<div class="field"><label for="f-search">Search</label><input id="f-search" type="search" autocomplete="off" .value=${search} @input=${(
              e,
            ) => {
              search = e.target.value;
              update();
            }}></div>`
          : nothing
      }
        <div class="tiles">${found.slice(0, 80).map(
          (s) =>
            html`<button type="button" class="tile" data-pick=${s.stationCode} aria-pressed=${String(codes.has(s.stationCode))} @click=${() => {
              if (!codes.delete(s.stationCode)) codes.add(s.stationCode);
              update();
            }}><span dir="auto">${codes.has(s.stationCode) ? html`<span aria-hidden="true">✓ </span>` : nothing}${s.name}</span><small dir="auto">${s.plantCode} · ${s.groupCode}</small></button>`,
        )}</div>
        ${found.length > 80 ? html`<p class="muted">${count(found.length - 80, "more station")}: search for yours.</p>` : nothing}`,
      actions: html`${chosen.length ? html`<button type="button" class="button large" @click=${() => close()}>Back</button>` : nothing}<button type="button" class="button large primary" data-do="done" ?disabled=${codes.size === 0} @click=${() => close(all.map((s) => s.stationCode).filter((code) => codes.has(code)))}>${codes.size === 0 ? "Choose at least one" : `Use ${count(codes.size, "station")}`}</button>`,
    };
  });
}

/** showWaiting shows what waits to be sent. */
export function showWaiting() {
  let changed;
  return sheet(({ close, update }) => {
    if (!changed) queue.addEventListener("change", (changed = () => update()));
    return {
      title: queue.waiting.length
        ? `${count(queue.waiting.length, "action waits", "actions wait")} to be sent`
        : "Everything is sent",
      body: html`${queue.waiting.length ? html`<p>They are kept on this tablet, with their time, and go by themselves in this order when the service can be reached.</p><ol class="list">${queue.waiting.map((a) => html`<li class="entry"><div class="entry-text"><h3 dir="auto">${a.label}</h3><p class="muted"><bdi>${a.station}</bdi> · ${time(a.at, { zone: a.zone, date: false })}</p></div></li>`)}</ol>` : html`<p>What you do is known to the service.</p>`}`,
      actions: html`<button type="button" class="button large" @click=${() => close()}>Back</button>${queue.waiting.length ? html`<button type="button" class="button large primary" data-do="send" @click=${() => queue.sendAnew()}>Send now</button>` : nothing}`,
    };
  }).finally(() => queue.removeEventListener("change", changed));
}

// nameOf names whose an action is: a tablet by the name that it was paired by, or a person.
const nameOf = (who) => {
  const [, tablet] = /^[^/]*\/tablet:([^@]*)@/.exec(who) ?? [];
  return tablet ? `the tablet ${tablet}` : who.slice(who.indexOf("/") + 1);
};

/** showOthers shows what waits of others, and gives it up where somebody has seen to it. */
export async function showOthers() {
  const { others } = queue,
    names = [...new Set(others.map((a) => nameOf(a.who)))];
  const gone = await sheet(({ close }) => ({
    title: `${count(others.length, "action")} of others`,
    body: html`<p>They were done here by ${names.map((name, i) => html`${i ? ", " : ""}<bdi>${name}</bdi>`)}, and are not sent. They go by themselves when a tablet is paired here by that name again, or that person signs in here.</p>
      <ol class="list">${others.map((a) => html`<li class="entry"><div class="entry-text"><h3 dir="auto">${a.label}</h3><p class="muted"><bdi>${a.station}</bdi> · ${time(a.at, { zone: a.zone })}${a.body.initials ? html` · <bdi>${a.body.initials}</bdi>` : nothing} · <bdi>${nameOf(a.who)}</bdi></p></div></li>`)}</ol>`,
    actions: html`<button type="button" autofocus class="button large" @click=${() => close(false)}>Back</button><button type="button" class="button large danger" data-do="drop" @click=${() => close(true)}>Remove them …</button>`,
  }));
  if (
    gone &&
    (await sure({
      title: "Remove them?",
      text: html`<p><strong>They are never sent then.</strong> Remove them when somebody has entered them by hand.</p>`,
      action: "Remove",
      danger: true,
    }))
  )
    await queue.drop(others);
}

/** menu gives what is chosen of the menu: "who", "leave", "station", "stations", "off", "waiting", "floor" or "out". */
export const menu = ({ initials, several, free, person }) =>
  sheet(({ close }) => {
    const item = (name, label, note = nothing) =>
      html`<button type="button" class="tile" data-menu=${name} @click=${() => close(name)}><span>${label}</span>${note ? html`<small>${note}</small>` : nothing}</button>`;
    return {
      title: "Menu",
      body: html`<div class="tiles">${item("who", initials ? "Somebody else works here" : "Who works here?", initials || nothing)}${initials ? item("leave", "I stop working here", initials) : nothing}
      ${several ? item("station", "Another station") : nothing}${free ? item("stations", "The stations of this tablet") : nothing}
      ${item("off", "What is switched off?")}${item("waiting", "What waits to be sent", queue.waiting.length ? String(queue.waiting.length) : nothing)}
      ${connection.up ? item("help", "Help") : nothing}
      ${person ? html`${item("floor", "To the floor")}${item("out", "Sign out")}` : nothing}</div>`,
      actions: html`<button type="button" class="button large" @click=${() => close()}>Back</button>`,
    };
  });
