// What the page of analyses shows, kept in its address: a link shows the same.

import { profiles as profileNames } from "../../shared/explain/rules.js";
import { addressOf, readScope } from "../../shared/scope.js";
import { text } from "../../shared/words.js";

/** dimensions are what figures can be added up by; those with a time can only be asked for alone or beside one without. */
export const dimensions = {
  plant: { label: text("floor.analysis.dimension.plant") },
  group: { label: text("floor.analysis.dimension.group") },
  station: { label: text("floor.analysis.dimension.station") },
  sku: { label: text("floor.analysis.dimension.sku") },
  shift: { label: text("floor.analysis.dimension.shift") },
  hour: { label: text("floor.analysis.dimension.hour"), time: true },
  day: { label: text("floor.analysis.dimension.day"), time: true },
  week: { label: text("floor.analysis.dimension.week"), time: true },
  month: { label: text("floor.analysis.dimension.month"), time: true },
};

/** measures are what losses are told in. */
export const measures = {
  time: text("floor.analysis.measure.time"),
  units: text("floor.analysis.measure.units"),
  money: text("floor.analysis.measure.money"),
};

/** profiles are the ways to make A, P and Q (monitoring.md section 7), each in a sentence. */
export const profiles = {
  default: {
    name: profileNames.default,
    sentence: text("floor.analysis.profile.default"),
  },
  iso22400: {
    name: profileNames.iso22400,
    sentence: text("floor.analysis.profile.iso22400"),
  },
  vorne: {
    name: profileNames.vorne,
    sentence: text("floor.analysis.profile.vorne"),
  },
  evocon: {
    name: profileNames.evocon,
    sentence: text("floor.analysis.profile.evocon"),
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
