// What the page of analyses shows, kept in its address: a link shows the same.

import { profiles as profileNames } from "../../shared/explain/rules.js";
import { addressOf, readScope } from "../../shared/scope.js";

/** dimensions are what figures can be added up by; those with a time can only be asked for alone or beside one without. */
export const dimensions = {
  plant: { label: "Plant" },
  group: { label: "Group" },
  station: { label: "Station" },
  sku: { label: "SKU" },
  shift: { label: "Shift" },
  hour: { label: "Hour", time: true },
  day: { label: "Day", time: true },
  week: { label: "Week", time: true },
  month: { label: "Month", time: true },
};

/** measures are what losses are told in. */
export const measures = { time: "Time", units: "Units", money: "Money" };

/** profiles are the ways to make A, P and Q (monitoring.md section 7), each in a sentence. */
export const profiles = {
  default: {
    name: profileNames.default,
    sentence:
      "Availability is scheduled production without downtime, as a share of scheduled production; performance is units made, of those due while it was not down; quality is the good share of the units.",
  },
  iso22400: {
    name: profileNames.iso22400,
    sentence:
      "Availability is the time that really produced, as a share of the planned busy time, which set-up and changeover belong to and planned stops do not; performance is the ideal time of all units, of the time that produced.",
  },
  vorne: {
    name: profileNames.vorne,
    sentence:
      "Availability is run time as a share of planned production, where changeovers, set-ups and planned stops count as stops; performance is the ideal time of all units, of run time.",
  },
  evocon: {
    name: profileNames.evocon,
    sentence:
      "Availability is time producing, slowly or not, as a share of shift time without planned stops; performance is the share of that time which was not slow. No rate is needed.",
  },
};

const oneOf = (table, value, otherwise) => (Object.hasOwn(table, value ?? "") ? value : otherwise);

/** readState reads {view, by: [one or two], profile, measure, causes, sort, down, scope} from a query; views has the names that view may have. */
export function readState(query, views) {
  const by = (query.get("by") ?? "station")
    .split(",")
    .filter((name, i, all) => Object.hasOwn(dimensions, name) && all.indexOf(name) === i)
    .slice(0, 2);
  if (by.length === 2 && by.every((name) => dimensions[name].time)) by.pop();
  return {
    view: oneOf(views, query.get("view"), "oee"),
    by: by.length ? by : ["station"],
    profile: oneOf(profiles, query.get("profile"), "default"),
    measure: oneOf(measures, query.get("measure"), "time"),
    causes: query.get("causes") === "groups" ? "groups" : "each",
    sort: query.get("sort") ?? "",
    down: query.get("down") === "1",
    scope: readScope(query, "last7d"),
  };
}

/** addressFor gives the address of a state; what is as it is without being said is left out. */
export function addressFor(state) {
  const { view, by, profile, measure, causes, sort, down, scope } = state;
  return addressOf(
    scope,
    {
      view: view === "oee" ? "" : view,
      by: by.join(",") === "station" ? "" : by,
      profile: profile === "default" ? "" : profile,
      measure: measure === "time" ? "" : measure,
      causes: causes === "each" ? "" : causes,
      sort,
      down: sort && down ? "1" : "",
    },
    "/floor/analysis",
  );
}
