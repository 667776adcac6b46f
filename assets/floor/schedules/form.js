// The form of a schedule.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { field, segmented } from "../../shared/form.js";
import { live } from "../../shared/live.js";
import { propertyOf } from "../../shared/schema.js";

/** rates are the ways to say how fast a schedule goes, of which it has one or none. */
export const rates = ["cycleTime", "unitsPerMinute", "unitsPerHour"];

const rateNames = {
  "": "As the SKU or the station says",
  cycleTime: "Cycle time",
  unitsPerMinute: "Units per minute",
  unitsPerHour: "Units per hour",
};

/** types are the four ways in which a schedule may end. */
export const types = [
  { value: "quantity", label: "Quantity" },
  { value: "end", label: "End" },
  { value: "both", label: "Quantity and end" },
  { value: "continuous", label: "Until it is ended" },
];

/** formOf gives the fields: state {said, type, rate, zone, station, problems, change(more), update()}; s is the schedule as it is, or null. */
export function formOf({ page, state, all, s }) {
  const { said, station, problems } = state,
    running = s?.state === "running",
    production = said.kind !== "nonProduction";
  const one = (name, more) =>
    field({
      schema: propertyOf(all, "ScheduleWrite", name),
      name,
      id: `schedule-${name}`,
      value: said[name] ?? null,
      problem: problems.get(name),
      change: (value) => state.change({ [name]: value }),
      ...more,
    });
  const moment = (name, label) =>
    one(name, {
      label,
      kind: "moment",
      zone: state.zone,
      hint: `On the clock of ${state.zone}.`,
      disabled: running && name === "plannedStartAt",
      change: (at) => state.change(moved(said, name, at)),
    });
  const typesNow = production ? types : types.filter((t) => t.value === "end" || t.value === "continuous");
  return html`<div class="fields schedule-form">
    ${
      running
        ? nothing
        : html`<div class="wide row">${segmented({
            name: "schedule-kind",
            label: "Kind",
            value: said.kind,
            options: [
              { value: "production", label: "Production" },
              { value: "nonProduction", label: "Non-production" },
            ],
            change: (kind) => {
              if (kind === "nonProduction") state.type = state.type === "continuous" ? "continuous" : "end";
              if (kind === "nonProduction" && !said.plannedEndAt)
                said.plannedEndAt = new Date(Date.parse(said.plannedStartAt) + 3600000).toISOString();
              state.change({ kind });
            },
          })}</div>
    ${one("stationCode", { label: "Station", kind: "choice", required: true, hint: " ", options: stations(page) })}
    ${
      production
        ? one("skuCode", {
            label: "SKU",
            kind: "codes",
            required: true,
            hint: station ? "SKUs that the station can run." : "Reading what the station can run …",
            value: said.skuCode ? [said.skuCode] : null,
            single: true,
            placeholder: "Find a SKU",
            options: (station?.skus ?? []).map(({ code, name }) => ({ value: code, label: name })),
            change: (codes) => state.change({ skuCode: codes?.at(-1) ?? null }),
          })
        : one("reasonCode", {
            label: "Reason",
            kind: "codes",
            required: true,
            hint: station ? "Reasons for non-production at the station." : "Reading what the station can run …",
            value: said.reasonCode ? [said.reasonCode] : null,
            single: true,
            placeholder: "Find a reason",
            options: (station?.reasons ?? []).map(({ code, name, above }) => ({
              value: code,
              label: name ?? code,
              hint: above,
            })),
            change: (codes) => state.change({ reasonCode: codes?.at(-1) ?? null }),
          })
    }
    ${one("workOrderReference", { label: "Work order", hint: " " })}`
    }
    <div class="wide row"><span class="muted small" id="schedule-type">It ends by</span>${segmented({ name: "schedule-type", label: "It ends by", value: state.type, options: typesNow, change: (type) => setType(state, type) })}</div>
    ${moment("plannedStartAt", "Start")}
    ${state.type === "end" || state.type === "both" ? moment("plannedEndAt", "End") : nothing}
    ${production && (state.type === "quantity" || state.type === "both") ? one("plannedQuantity", { label: "Quantity", hint: "Units to be made." }) : nothing}
    ${
      production && !running
        ? html`${field({
            schema: {},
            name: "rate",
            id: "schedule-rate",
            label: "Rate",
            kind: "choice",
            required: true,
            value: state.rate,
            hint: " ",
            options: Object.entries(rateNames).map(([value, label]) => ({ value, label })),
            change: (rate) => {
              state.rate = rate ?? "";
              state.change({});
            },
          })}
      ${state.rate ? one(state.rate, { label: rateNames[state.rate] }) : nothing}`
        : nothing
    }
    ${one("note", { label: "Note", kind: "lines", hint: " " })}
    ${
      running
        ? nothing
        : html`<details class="wide" ?open=${Boolean(said.autoStart || said.autoEnd || said.extendShift || ["autoStart", "autoEnd", "extendShift", "partsPerCycle", "lineSpeedTarget", "autoEndOnQuantityComplete"].some((name) => problems.has(name)))}><summary>By itself, shift time, speed</summary><div class="fields">
      ${one("autoStart", { label: "Starts by itself", hint: "At its planned start." })}
      ${one("autoEnd", { label: "Ends by itself", hint: "At its planned or expected end." })}
      ${one("extendShift", { label: "Extends the shift", hint: "Its time counts as shift time, also out of shift." })}
      ${
        production
          ? html`${one("autoEndOnQuantityComplete", {
              label: "Ends with its quantity",
              kind: "choice",
              placeholder: "As the account says",
              hint: " ",
              options: [
                { value: true, label: "Yes" },
                { value: false, label: "No" },
              ],
            })}
        ${one("lineSpeedTarget", { label: "Line speed target", hint: "Instead of the station's." })}
        ${partsPerCycle(one, station)}`
          : nothing
      }</div></details>`
    }
  </div>`;
}

const partsPerCycle = (one, station) => {
  const flag = station?.flags.enableEditPartsPerCycle;
  return one("partsPerCycle", {
    label: "Parts per cycle",
    disabled: flag?.value === "off",
    hint:
      flag?.value === "off"
        ? `“Edit parts per cycle” is off here: ${flag.from === "default" ? "no level switches it on" : `the ${flag.from} decides so`}.`
        : "Instead of the SKU's.",
  });
};

const stations = ({ names }) =>
  names.plants.flatMap((plant) =>
    plant.groups.flatMap((group) =>
      group.stations
        .filter((s) => live.stations.has(s.code))
        .map((s) => ({ value: s.code, label: `${s.name} (${s.code})` })),
    ),
  );

function setType(state, type) {
  state.type = type;
  const { said } = state;
  if ((type === "end" || type === "both") && !said.plannedEndAt)
    said.plannedEndAt = new Date(Date.parse(said.plannedStartAt) + 4 * 3600000).toISOString();
  state.change({});
}

// moved gives what a new time means: a planned end goes along with its start.
function moved(said, name, at) {
  if (name !== "plannedStartAt" || !at || !said.plannedStartAt || !said.plannedEndAt) return { [name]: at };
  return {
    plannedStartAt: at,
    plannedEndAt: new Date(
      Date.parse(said.plannedEndAt) + Date.parse(at) - Date.parse(said.plannedStartAt),
    ).toISOString(),
  };
}
