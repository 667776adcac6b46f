// What becomes of settings that were found: into the draft of the configuration, or told to whoever may change it.

import { html } from "../../vendor/lit-html/lit-html.js";
import { confirm, openDialog } from "../../shared/dialog.js";
import { duration } from "../../shared/format.js";
import { snippet } from "../../shared/dom.js";
import { labelOf } from "../../shared/terms.js";
import { text } from "../../shared/words.js";

const lineOf = (code, name, value) => text("floor.tuner.change", { code, field: labelOf(name), value });

/** values gives changes {station, skus} as lines for people. */
export const lines = (changes, stationCode) => [
  ...Object.entries(changes.station ?? {}).map(([name, ms]) => lineOf(stationCode, name, duration(ms))),
  ...(changes.skus ?? []).flatMap(({ code, ...fields }) =>
    Object.entries(fields).map(([name, value]) => lineOf(code, name, String(value))),
  ),
];

/** intoDraft puts changes into the draft that the console's pages share, and goes to where they stand. It gives false when somebody thought better of it. */
export async function intoDraft({ changes, station, profile }) {
  if (
    changes.skus?.length &&
    !(await confirm({
      title: text("floor.tuner.draft.title"),
      text: text("floor.tuner.draft.text", { skus: changes.skus.map((s) => s.code).join(", ") }),
      action: text("floor.tuner.draft.button"),
    }))
  )
    return false;
  const [{ workspace }, { setIn }] = await Promise.all([
    import("../../shared/workspace.js"),
    import("../../shared/document.js"),
  ]);
  await workspace.open(profile);
  const { code, plant, group } = station;
  const at = pathOf(workspace.doc, code);
  if (!at) throw new Error(`the draft of the configuration has no station ${code}`);
  workspace.edit((doc) => {
    for (const [name, value] of Object.entries(changes.station ?? {})) doc = setIn(doc, [...at, name], value);
    for (const { code: sku, ...fields } of changes.skus ?? []) {
      const i = doc.account.skus.findIndex((s) => s.code === sku);
      for (const [name, value] of Object.entries(fields))
        if (i >= 0) doc = setIn(doc, ["account", "skus", i, name], value);
    }
    return doc;
  });
  await workspace.save();
  location.assign(
    changes.station
      ? `/console/plants/${[plant.code, group.code, code].map(encodeURIComponent).join("/")}`
      : "/console/skus",
  );
  return true;
}

function pathOf(doc, code) {
  for (const [p, plant] of doc.account.plants.entries())
    for (const [g, group] of plant.stationGroups.entries())
      for (const [s, station] of group.stations.entries())
        if (station.code === code) return ["account", "plants", p, "stationGroups", g, "stations", s];
  return null;
}

/** handOn shows the values to somebody who may not change the configuration. */
export const handOn = (changes, stationCode) =>
  openDialog(({ close }) => ({
    title: text("floor.tuner.handOn"),
    body: html`<p>${text("floor.tuner.handOn.text")}</p>${snippet(lines(changes, stationCode).join("\n"), { wrap: true })}`,
    actions: html`<button type="button" class="button" @click=${() => close()}>${text("floor.tuner.close")}</button>`,
  }));
