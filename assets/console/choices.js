// What the lists of a manifest offer to choose from, for fields that name codes: [{value, label, hint}].

/** stationOptions lists the stations of all plants. */
export const stationOptions = (doc) =>
  doc.account.plants.flatMap((plant) =>
    plant.stationGroups.flatMap((group) =>
      group.stations.map((station) => ({
        value: station.code,
        label: station.name,
        hint: `${group.name}, ${plant.name}`,
      })),
    ),
  );

/** groupOptions lists the station groups; a code may be that of groups in several plants. */
const groupOptions = (doc) =>
  doc.account.plants.flatMap((plant) =>
    plant.stationGroups.map((group) => ({ value: group.code, label: group.name, hint: plant.name })),
  );

/** reasonOptions lists the reasons of the whole tree. */
const reasonOptions = (doc) => {
  const flat = (list, above) =>
    (list ?? []).flatMap((reason) => [
      { value: reason.code, label: reason.name ?? reason.code, hint: above },
      ...flat(reason.reasons, reason.name ?? reason.code),
    ]);
  return flat(doc.account.reasons, "");
};

const named = (list, name) => (list ?? []).map((e) => ({ value: e.code, label: e[name] }));

const taskOptions = (doc) => named(doc.account.tasks, "title");
const taskListOptions = (doc) => named(doc.account.taskLists, "name");
const shiftPatternOptions = (doc) => named(doc.account.shiftPatterns, "title");

/** zoneOptions lists the time zones that the browser knows, and those that the manifest names already. */
export const zoneOptions = (doc) =>
  [...new Set([...Intl.supportedValuesOf("timeZone"), "UTC", ...doc.account.plants.map((plant) => plant.timezone)])]
    .filter(Boolean)
    .sort()
    .map((value) => ({ value, label: value }));

/** currencyOptions lists the currencies that the browser knows. */
const currencyOptions = () => Intl.supportedValuesOf("currency").map((value) => ({ value, label: value }));

/** optionsFor gives the options of a kind of terms.js that names a list; undefined for other kinds. */
export function optionsFor(kind, doc) {
  return {
    stations: stationOptions,
    groups: groupOptions,
    reasons: reasonOptions,
    tasks: taskOptions,
    taskLists: taskListOptions,
    shiftPattern: shiftPatternOptions,
    zone: zoneOptions,
    currency: currencyOptions,
  }[kind]?.(doc);
}
