// What the first set-up makes of what was typed: a manifest (http-api.md 2.3), and the way back from a field of it to the
// field on the page.

import { text } from "../shared/words.js";

/** slug makes a code of a name: letters and digits of ASCII, the rest hyphens; "" for a name in another script. */
export function slug(name) {
  return name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/ß/g, "ss")
    .replace(/[^A-Za-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
}

// unique gives a code that is not taken yet, no longer than most.
function unique(wanted, taken, most) {
  for (let n = 1; ; n++) {
    const end = n === 1 ? "" : `-${n}`;
    const code = wanted.slice(0, most - end.length).replace(/-+$/, "") + end;
    if (!taken.has(code)) {
      taken.add(code);
      return code;
    }
  }
}

/** stationNames reads names that stand one in a line; blank lines are none. */
export const stationNames = (lines) =>
  lines
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

/** resize gives so many names: more are numbered on, after those of the groups before, and those too many at the end go. */
export function resize(names, count, before = 0) {
  const out = names.slice(0, count);
  while (out.length < count) out.push(text("welcome.station.new", { n: before + out.length + 1 }));
  return out;
}

/** accountId proposes an account's id for a domain (decisions.md section 2). */
export function accountId(domain) {
  const label = slug(domain.split(".")[0] ?? "")
    .toLowerCase()
    .slice(0, 55);
  return label.length < 3 ? "" : label;
}

/** manifest makes the document that the account starts with. */
export function manifest(form) {
  const stations = new Set();
  const groups = new Set();
  const plant = slug(form.plant).toLowerCase().slice(0, 55).replace(/-+$/, "");
  return {
    version: "v1",
    account: {
      id: form.id,
      domain: form.domain.trim().toLowerCase(),
      currency: form.currency.trim().toUpperCase() || null,
      durationFormat: "months",
      shiftPatterns: [],
      reasons: [],
      tasks: [],
      taskLists: [],
      skus: [],
      plants: [
        {
          code: plant.length < 3 ? "plant-1" : plant,
          name: form.plant.trim(),
          timezone: form.timezone.trim(),
          dayStartHour: Number(form.dayStart),
          weekStartDay: Number(form.weekStart),
          stationGroups: form.groups.map((group, i) => ({
            code: unique(slug(group.name).toLowerCase() || `group-${i + 1}`, groups, 55),
            name: group.name.trim(),
            stations: stationNames(group.stations).map((name, j) => ({
              code: unique(slug(name).toUpperCase() || `ST-${i + 1}-${j + 1}`, stations, 32),
              name,
            })),
          })),
        },
      ],
    },
  };
}

const places = [
  [/^code$/, () => "code"],
  [/^email$/, () => "email"],
  [/^(account\.)?domain$/, () => "domain"],
  [/^(account\.)?id$/, () => "id"],
  [/^account\.currency$/, () => "currency"],
  [/^account\.plants\[0\]\.timezone$/, () => "timezone"],
  [/^account\.plants\[0\]\.dayStartHour$/, () => "dayStart"],
  [/^account\.plants\[0\]\.weekStartDay$/, () => "weekStart"],
  [/^account\.plants\[0\]\.(name|code)$/, () => "plant"],
  [/^account\.plants\[0\]\.stationGroups\[(\d+)\]\.stations\[(\d+)\]/, (m) => [`stations-${m[1]}`, Number(m[2]) + 1]],
  [/^account\.plants\[0\]\.stationGroups\[(\d+)\]\.stations$/, (m) => `stations-${m[1]}`],
  [/^account\.plants\[0\]\.stationGroups\[(\d+)\]/, (m) => `group-${m[1]}`],
];

/** place finds the field of the page that a detail of an error is about: [field, sentence]; field "" when there is none. */
export function place({ field, issue }) {
  const path = field.replace(/^manifest\./, "");
  for (const [pattern, to] of places) {
    const m = pattern.exec(path);
    if (!m) continue;
    const [at, line] = [to(m)].flat();
    return [at, line ? text("welcome.line", { n: line, issue }) : issue];
  }
  return ["", path ? `${path} ${issue}` : issue];
}
