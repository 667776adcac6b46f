// What codes mean: names of plants, groups, stations, SKUs and reasons, read once and again when the configuration changes.

import { get } from "./api.js";
import { live } from "./live.js";

const patience = 10_000; // ms until names that could not be read are asked for once more

let coming = null,
  timer = 0;

/**
 * directory gives {plants, shiftPatterns, skus, reasons, currency, durationFormat} as GET /directory does, and finds by code: plant(code),
 * group(plantCode, code), station(code), sku(code), reason(code), each {code, name, …}; what is not known has its code as
 * its name. plantOf(stationCode) gives a station's plant. There is one for all pages, which takes other names by itself:
 * version counts how often, and renamed tells of it.
 */
export function directory() {
  return (coming ??= get("/directory").then(
    ({ result }) => new Directory(result),
    (error) => {
      coming = null;
      throw error;
    },
  ));
}

/** renamed is an EventTarget; "change": names are others than before. */
export const renamed = new EventTarget();

// What was told of the configuration while nobody listened, before a "reset", is not told again.
for (const type of ["account", "reset"]) live.addEventListener(type, again);

async function again() {
  clearTimeout(timer);
  const names = await coming?.catch(() => null); // where nobody has them yet they are read when somebody asks
  if (!names) return;
  try {
    if (names.take((await get("/directory")).result)) renamed.dispatchEvent(new Event("change"));
  } catch {
    clearTimeout(timer);
    timer = setTimeout(again, patience); // those of before do until then
  }
}

class Directory {
  version = 0;
  #text = "";
  #stations;
  #skus;
  #reasons;

  constructor(result) {
    this.take(result);
  }

  /** take takes what GET /directory gave; it tells whether it is other than before. */
  take(result) {
    const text = JSON.stringify(result);
    if (text === this.#text) return false;
    this.#text = text;
    this.version++;
    Object.assign(this, result);
    this.#stations = new Map();
    for (const plant of result.plants)
      for (const group of plant.groups)
        for (const station of group.stations) this.#stations.set(station.code, { ...station, plant, group });
    this.#skus = new Map(result.skus.map((sku) => [sku.code, sku]));
    this.#reasons = new Map(
      result.reasons.map((reason) => [reason.code, { ...reason, name: reason.name ?? reason.code }]),
    );
    return true;
  }

  plant(code) {
    return (
      this.plants.find((plant) => plant.code === code) ?? {
        code,
        name: code,
        groups: [],
        timezone: "UTC",
        dayStartHour: 0,
        weekStartDay: 0,
      }
    );
  }
  group(plantCode, code) {
    return this.plant(plantCode).groups.find((group) => group.code === code) ?? { code, name: code, stations: [] };
  }
  station(code) {
    return this.#stations.get(code) ?? { code, name: code };
  }
  plantOf(stationCode) {
    return this.#stations.get(stationCode)?.plant ?? this.plants[0];
  }
  sku(code) {
    return this.#skus.get(code) ?? { code, name: code === "UNKNOWN" ? "Unknown SKU" : code };
  }
  reason(code) {
    return this.#reasons.get(code) ?? { code, name: code };
  }
  stations() {
    return [...this.#stations.values()];
  }

  /**
   * byGroup puts stations, each as GET /station gives it, under their plants and groups, in the order of the configuration:
   * [{plant, groups: [{group, stations}]}]. Plants and groups without one are left out; one that is not known yet stands last.
   */
  byGroup(stations) {
    const plants = new Map(
      this.plants.map((plant) => [
        plant.code,
        { plant, groups: new Map(plant.groups.map((group) => [group.code, { group, stations: [] }])) },
      ]),
    );
    for (const station of stations) {
      const { plantCode, groupCode } = station;
      if (!plants.has(plantCode)) plants.set(plantCode, { plant: this.plant(plantCode), groups: new Map() });
      const { groups } = plants.get(plantCode);
      if (!groups.has(groupCode)) groups.set(groupCode, { group: this.group(plantCode, groupCode), stations: [] });
      groups.get(groupCode).stations.push(station);
    }
    return [...plants.values()]
      .map(({ plant, groups }) => ({ plant, groups: [...groups.values()].filter((g) => g.stations.length) }))
      .filter((p) => p.groups.length);
  }
}
