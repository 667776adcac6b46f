// The floor: what every station does now, by plant and group.

import { html } from "../../vendor/lit-html/lit-html.js";
import { directory } from "../../shared/directory.js";
import { live } from "../../shared/live.js";
import { statusOf } from "../../shared/status.js";

export async function open(ctx) {
  const [names, end] = await Promise.all([directory(), live.follow()]);
  live.addEventListener("stations", ctx.update);
  const leave = () => { live.removeEventListener("stations", ctx.update); end(); };
  return { title: "Floor", render: () => page(names), leave };
}

const page = (names) => html`<div class="page-head"><h1>Floor</h1></div>
  ${names.plants.map((plant) => plant.groups.map((group) => html`<section class="stack"><h2 dir="auto">${group.name}</h2>
    <div class="cards">${group.stations.map(({ code }) => live.stations.get(code)).filter(Boolean).map(card)}</div></section>`))}`;

function card(station) {
  const status = statusOf(station.statusCode);
  return html`<article class="card" data-station=${station.stationCode} data-sequence=${station.sequence}><h3 dir="auto">${station.name}</h3>
    <p class="status ${status.color}"><span aria-hidden="true">${status.sign}</span> ${status.label}</p></article>`;
}
