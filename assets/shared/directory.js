// What codes mean: names of plants, groups, stations, SKUs and reasons, read once and again when the configuration changes.

import { get } from "./api.js";
import { live } from "./live.js";

let coming = null;

/**
 * directory gives {plants, shiftPatterns, skus, reasons, currency, durationFormat} as GET /directory does, and finds by code: plant(code),
 * group(plantCode, code), station(code), sku(code), reason(code), each {code, name, …}; what is not known has its code as
 * its name. plantOf(stationCode) gives a station's plant.
 */
export function directory() {
  return coming ??= get("/directory").then(({ result }) => new Directory(result), (error) => { coming = null; throw error; });
}

live.addEventListener("account", () => { coming = null; });

class Directory {
  #stations = new Map();
  #skus;
  #reasons;

  constructor(result) {
    Object.assign(this, result);
    for (const plant of result.plants) for (const group of plant.groups) for (const station of group.stations) this.#stations.set(station.code, { ...station, plant, group });
    this.#skus = new Map(result.skus.map((sku) => [sku.code, sku]));
    this.#reasons = new Map(result.reasons.map((reason) => [reason.code, { ...reason, name: reason.name ?? reason.code }]));
  }

  plant(code) { return this.plants.find((plant) => plant.code === code) ?? { code, name: code, groups: [], timezone: "UTC", dayStartHour: 0, weekStartDay: 0 }; }
  group(plantCode, code) { return this.plant(plantCode).groups.find((group) => group.code === code) ?? { code, name: code, stations: [] }; }
  station(code) { return this.#stations.get(code) ?? { code, name: code }; }
  plantOf(stationCode) { return this.#stations.get(stationCode)?.plant ?? this.plants[0]; }
  sku(code) { return this.#skus.get(code) ?? { code, name: code === "UNKNOWN" ? "Unknown SKU" : code }; }
  reason(code) { return this.#reasons.get(code) ?? { code, name: code }; }
  stations() { return [...this.#stations.values()]; }
}
