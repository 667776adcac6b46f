// A station: its time on a timeline, from a month to a minute, with what was made, and every figure of it.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { guard } from "../../vendor/lit-html/directives/guard.js";
import { keyed } from "../../vendor/lit-html/directives/keyed.js";
import { directory } from "../../shared/directory.js";
import { sentence } from "../../shared/dialog.js";
import { live } from "../../shared/live.js";
import { load as loadPlot } from "../../shared/plot.js";
import { addressOf, ranges, rangeOf, rangeText } from "../../shared/scope.js";
import { statusOf } from "../../shared/status.js";
import { style } from "../../shared/styles.js";
import { text } from "../../shared/words.js";
import { chart } from "../station/charts.js";
import { cycles, legend, losses, tiles } from "../station/figures.js";
import { alert, askAlert, head } from "../station/head.js";
import { messages, schedules, stops, stretches } from "../station/lists.js";
import { Page } from "../station/page.js";
import { between } from "../station/range.js";
import { stage } from "../station/stage.js";
import { picked, sentenceOf } from "../station/words.js";

export async function open(ctx) {
  const [names] = await Promise.all([directory(), style(new URL("../station.css", import.meta.url))]);
  loadPlot().catch(() => {}); // while the timeline is on its way
  if (!ctx.path[0]) return chooser(ctx, names);
  let page = await opened(ctx, names),
    turn = 0;
  if (page.failed) throw page.failed;
  const view = {
    title: page.station?.name ?? ctx.path[0],
    render: () => keyed(page, render(page)),
    leave: () => {
      turn++;
      page.leave();
    },
    changed: (now) => {
      if (!now.path[0]) return location.reload();
      if (now.path[0] !== page.code || page.left) return again(now);
      page.ctx = now;
      page.profile = now.query.get("profile") || "default";
      page.picked = null;
      page.take(now.query.get("range") ?? "");
    },
  };
  async function again(now) {
    // another station takes the page over
    const mine = ++turn;
    page.leave();
    const next = await opened(now, names);
    if (mine !== turn) return next.leave(); // another one is wanted by now
    page = next;
    view.title = page.station?.name ?? page.code;
    now.update();
  }
  return view;
}

// opened gives the page of the station in the address; failed is why it cannot be shown.
async function opened(ctx, names) {
  const page = new Page(ctx.path[0], names, ctx);
  page.words = (at, item, plan) => sentenceOf(at, item, plan, page);
  try {
    await page.start();
  } catch (error) {
    page.leave();
    page.failed = error;
  }
  return page;
}

// chooser lists the stations, where none is named.
async function chooser(ctx, names) {
  const end = await live.follow();
  live.addEventListener("stations", ctx.update);
  const leave = () => {
    live.removeEventListener("stations", ctx.update);
    end();
  };
  return {
    title: text("floor.nav.station"),
    leave,
    changed: (now) => {
      if (now.path[0]) location.reload();
    },
    render: () => html`<div class="page-head"><h1>${text("floor.nav.station")}</h1></div>
    ${names.plants.map((plant) =>
      plant.groups.map(
        (group) =>
          html`<section class="stack"><h2>${names.plants.length > 1 ? html`<bdi>${plant.name}</bdi> · ` : nothing}<bdi>${group.name}</bdi></h2><ul class="plain-list station-links">${group.stations.map(
            ({ code, name }) => {
              const station = live.stations.get(code),
                status = statusOf(station?.statusCode, station?.noSignalYet);
              return html`<li><a href=${`/floor/station/${encodeURIComponent(code)}`} dir="auto">${name}</a> ${station ? html`<span class=${`status ${status.color}`}><span aria-hidden="true">${status.sign}</span> ${status.label}</span>` : nothing}</li>`;
            },
          )}</ul></section>`,
      ),
    )}`,
  };
}

const stopsAddress = (page) => (stop) =>
  addressOf(
    {
      range: stop
        ? between(stop.start, stop.end)
        : page.view.text in ranges
          ? page.view.text
          : rangeOf(page.view.from, page.view.to),
      stations: [page.code],
    },
    stop?.id ? { issue: stop.id } : {},
    "/floor/stops",
  );
const plansAddress = (page, item) =>
  addressOf(
    { stations: [page.code], at: new Date(item?.start ?? page.view.from).toISOString() },
    {},
    "/floor/schedules",
  );

function render(page) {
  const { station, names, zone, ctx } = page;
  if (page.failed)
    return html`<section class="notice bad" role="alert"><strong>${text("floor.station.failed", { code: page.code })}</strong> ${sentence(page.failed)} <button type="button" class="button small" @click=${() => ctx.navigate(location.pathname + location.search, { replace: true })}>${text("floor.station.again")}</button></section>`;
  if (page.left) return html`<p class="muted loading" role="status">${text("floor.station.loading")}</p>`; // another one is on its way
  if (!station)
    return html`<section class="notice bad" role="alert"><strong>${text("floor.station.gone", { code: page.code })}</strong> ${text("floor.station.gone.text")} <a href="/floor/station">${text("floor.station.all")}</a></section>`;
  const link = ([from, to]) => stopsAddress(page)({ start: from, end: to });
  return html`<div class="page-head station-title"><h1 dir="auto">${station.name}</h1><span class="row">
      <label class="inline-field"><span class="visually-hidden">${text("floor.station.other")}</span><select @change=${(e) => ctx.navigate(addressOf({ range: page.view.text in ranges || page.view.text.endsWith("/now") ? page.view.text : "" }, {}, `/floor/station/${encodeURIComponent(e.target.value)}`))}>${names.plants.flatMap((plant) => plant.groups.map((group) => html`<optgroup label=${names.plants.length > 1 ? `${plant.name} · ${group.name}` : group.name}>${group.stations.map((s) => html`<option value=${s.code} .selected=${s.code === page.code}>${s.name}</option>`)}</optgroup>`))}</select></label>
      ${ctx.can("supervisor") && !station.alertMessage ? html`<button type="button" class="button" @click=${() => askAlert(station, zone)}>${text("floor.station.alert.put")}</button>` : nothing}</span></div>
    ${alert({ station, zone, ctx })}
    ${head({ station, names, zone, ctx, link })}
    ${page.error ? html`<section class="notice bad" role="alert"><strong>${text("floor.station.failed.time")}</strong> ${sentence(page.error)} <button type="button" class="button small" @click=${() => page.take(page.view.text)}>${text("floor.station.again")}</button></section>` : nothing}
    ${timeline(page)}
    ${figures(page)}
    ${charts(page)}
    ${lists(page)}`;
}

const ask = (page) => (figure) => () => {
  const { oee, energy } = page.details;
  return {
    figure,
    profile: page.profile,
    value: shownOf(figure, oee, energy),
    query: { stationcodes: page.code, from: oee.startAt, to: oee.endAt },
  };
};

// shownOf gives a figure of what was read: a ratio has its terms beside its value.
const shownOf = (figure, oee, energy) => {
  const found = figure
    .split(".")
    .reduce((value, name) => value?.[name], figure in oee || figure.includes(".") ? oee : energy);
  return found?.value === undefined ? found : found.value;
};

function timeline(page) {
  const { view, zone, names, picture, cursor, actions } = page;
  return html`<section class="card timeline" aria-label=${text("floor.station.timeline")} @keydown=${(e) => keys(e, page)}>
    <div class="spread"><h2>${page.view.text === "" ? (page.station.shift?.name ? text("floor.station.shift", { name: html`<bdi>${page.station.shift.name}</bdi>` }) : text("floor.station.timeline")) : (ranges[view.text] ?? text("floor.station.timeline"))} <span class="muted when">${rangeText(rangeOf(view.from, view.to), zone)}${view.follow ? html` · <span class="following">${text("floor.station.timeline.follows")}</span>` : nothing}</span></h2>${controls(page)}</div>
    <div class="ribbon" tabindex="0" role="group" aria-label=${text("floor.station.timeline.hint", { station: page.station.name })} ${stage({ picture, cursor, actions })}>
      <canvas aria-hidden="true"></canvas><div class="line" hidden></div><div class="chosen" hidden></div></div>
    <p class="at-cursor" dir="auto"></p>
    ${picked({
      item: page.picked,
      zone,
      names,
      timeline: page.timeline,
      go: (from, to) => page.go(between(from, to)),
      close: () => {
        page.picked = null;
        page.ctx.update();
      },
      stopLink: stopsAddress(page),
      planLink: (item) => plansAddress(page, item),
    })}
    ${legend(page.details?.oee, ask(page), page.details?.length)}
    ${stretches({ timeline: page.timeline, zone, names })}
  </section>`;
}

function charts(page) {
  const { shown, zone, cursor } = page;
  return html`<div class="charts">${guard([page.charts, shown], () => page.charts.map((c) => chart(c, { shown, zone, zoom: (from, to) => page.show(from, to, true), link: cursor, name: page.code })))}</div>`;
}

function controls(page) {
  const { view } = page,
    last = (label, range) =>
      html`<button type="button" class="button small" aria-pressed=${String(view.text === range)} @click=${() => page.go(range)}>${label}</button>`;
  return html`<div class="controls" role="group" aria-label=${text("floor.station.time")}>
    <button type="button" class="button small" aria-label=${text("floor.station.time.before")} title=${text("floor.station.time.before")} @click=${() => page.step(-1)}>◀</button>
    ${last(text("floor.station.time.shift"), "")}
    <button type="button" class="button small" aria-label=${text("floor.station.time.after")} title=${text("floor.station.time.after")} @click=${() => page.step(1)}>▶</button>
    ${last(text("floor.station.time.hour"), "PT60M/now")}${last(text("floor.station.time.day"), "today")}${last(text("floor.station.time.week"), "PT10080M/now")}${last(text("floor.station.time.month"), "PT44640M/now")}
    <button type="button" class="button small" aria-label=${text("floor.station.zoomIn")} title=${text("floor.station.zoomIn.hint")} @click=${() => page.zoom(0.5)}>+</button>
    <button type="button" class="button small" aria-label=${text("floor.station.zoomOut")} title=${text("floor.station.zoomOut.hint")} @click=${() => page.zoom(2)}>−</button></div>`;
}

function keys(event, page) {
  if (event.ctrlKey || event.altKey || event.metaKey || /^(INPUT|SELECT|TEXTAREA|SUMMARY)$/.test(event.target.tagName))
    return;
  const far = event.shiftKey ? 1 : 0.25;
  const action = {
    "+": () => page.zoom(0.5),
    "=": () => page.zoom(0.5),
    "-": () => page.zoom(2),
    ArrowLeft: () => page.move(-far),
    ArrowRight: () => page.move(far),
    Home: () => page.go(""),
    End: () => page.go("PT60M/now"),
    PageUp: () => page.step(-1),
    PageDown: () => page.step(1),
  }[event.key];
  if (
    !action ||
    (event.key.length > 1 && !event.target.closest(".ribbon, .controls")) ||
    (event.key.startsWith("Page") && !event.target.closest(".ribbon"))
  )
    return;
  event.preventDefault();
  action();
}

function figures(page) {
  const { details, names, profile } = page;
  return html`<section class="card figures" aria-label=${text("floor.station.figures")}>${details ? tiles({ oee: details.oee, energy: details.energy, profile, change: (other) => page.choose(other), ask: ask(page), currency: names.currency }) : html`<p class="muted" role="status">${text("floor.station.loading")}</p>`}</section>`;
}

function lists(page) {
  const { details, zone, names, view } = page,
    go = (from, to) => page.go(between(from, to));
  if (!details) return nothing;
  const left = page.messages.filter((m) => !m.doneAt || (Date.parse(m.at) >= view.from && Date.parse(m.at) <= view.to));
  return html`<div class="station-columns">
      ${guard([page.stops, details], () => stops({ list: page.stops, more: details.issueCount > details.issues.length, zone, names, go, link: stopsAddress(page) }))}
      ${guard([page.timeline], () => schedules({ timeline: page.timeline, zone, names, go, link: plansAddress(page) }))}
      ${losses({ oee: details.oee, ask: ask(page), currency: names.currency })}
      ${messages({ list: left, zone })}
      ${cycles(details.cycles, names)}
    </div>`;
}
