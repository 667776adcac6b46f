// What holds at a station of a document: the same rules by which the service resolves it (GET /station/{stationCode}), for what
// is not applied yet.

import { flagOf } from "./tree.js";

/** accountFlags can be set for the account alone, levelFlags at every level, groupFlags from the group on (http-api.md 2.2). */
export const accountFlags = [
  "enableTasks",
  "enableCycleTimeAnalysis",
  "enableLostProductionCost",
  "enableAutoEndOnQuantityComplete",
  "enableDragBetweenStationsOnGantt",
  "enableHistoricalCorrection",
];
export const levelFlags = [
  "enableProductionCorrection",
  "enableManualProduction",
  "enableQuickScheduleStart",
  "enableScheduleCutShort",
  "enableRejectProduction",
  "enableEditPartsPerCycle",
  "enableScheduleStationFlexibility",
  "enableManualDowntime",
  "enableAlwaysConnected",
];
export const groupFlags = ["enableSchedulingOnly", "enableMeterOnly"];

/** flagsOf gives the flags that can be set at a node. */
export const flagsOf = (node) => (node.kind === "plant" ? levelFlags : [...levelFlags, ...groupFlags]);

/** resolve gives {flags, reasons, taskLists, shiftPattern, skus} of a station's node, in the shapes of the service's answer. */
export function resolve(node, account) {
  const levels = [account, node.plant.item, node.group.item, node.item];
  return {
    flags: flags(node, account),
    reasons: reasons(account.reasons ?? [], levels),
    taskLists: taskLists(account, levels),
    shiftPattern: shiftPattern(node, account),
    skus: skus(node, account),
  };
}

function flags(node, account) {
  const one = (name, at) => {
    const { value, from } = flagOf(at, name, account);
    return [name, { value, from }];
  };
  return Object.fromEntries([
    ...accountFlags.map((name) => one(name, null)),
    ...levelFlags.map((name) => one(name, node)),
    ...groupFlags.map((name) => [name, (({ value, from }) => ({ value, from }))(flagOf(node, name, null))]),
  ]);
}

const isSet = (list) => Array.isArray(list);

// A code stands for its whole subtree; the parents of what is left stay as headings.
function reasons(all, levels) {
  const lists = levels
    .filter((l) => isSet(l.includeReasonCodes) || l.excludeReasonCodes?.length)
    .map((l) => ({
      include: isSet(l.includeReasonCodes) ? new Set(l.includeReasonCodes) : null,
      exclude: new Set(l.excludeReasonCodes ?? []),
    }));
  const walk = (list, above) =>
    list.flatMap((reason) => {
      if (lists.some((l) => l.exclude.has(reason.code))) return [];
      const included = lists.map((l, i) => above[i] || Boolean(l.include?.has(reason.code)));
      const own = lists.every((l, i) => !l.include || included[i]),
        below = walk(reason.reasons ?? [], included);
      if (!own && below.length === 0) return [];
      return [
        {
          code: reason.code,
          name: reason.name ?? null,
          description: reason.description ?? null,
          type: reason.type ?? null,
          oee: reason.oee ?? null,
          heading: !own,
          reasons: below,
        },
      ];
    });
  return walk(
    all,
    lists.map(() => false),
  );
}

// Where no level includes any there are none; what a level removes is gone for those below.
function taskLists(account, levels) {
  let available = null;
  const excluded = new Set();
  for (const level of levels) {
    if (isSet(level.includeTaskListCodes))
      available = new Set(level.includeTaskListCodes.filter((code) => !available || available.has(code)));
    for (const code of level.excludeTaskListCodes ?? []) excluded.add(code);
  }
  return (account.taskLists ?? [])
    .filter((l) => available?.has(l.code) && !excluded.has(l.code))
    .map((l) => ({
      code: l.code,
      name: l.name,
      description: l.description ?? null,
      trigger: l.trigger ?? null,
      tasks: tasksOf(account, l.code),
    }));
}

function tasksOf(account, code) {
  const found = (account.tasks ?? []).flatMap((task) => {
    const entry = (task.taskListCodes ?? []).find((e) => e.code === code);
    return entry
      ? [
          {
            code: task.code,
            title: task.title,
            description: task.description ?? null,
            requireNotes: task.requireNotes === true,
            order: entry.order ?? null,
            trigger: task.trigger ?? null,
          },
        ]
      : [];
  });
  return found.sort((a, b) => (a.order ?? 0) - (b.order ?? 0));
}

function shiftPattern(node, account) {
  const at = [node, node.group].find((n) => (n.item.shiftPatternCode ?? null) !== null);
  const found = at && (account.shiftPatterns ?? []).find((p) => p.code === at.item.shiftPatternCode);
  return found ? { ...found, from: at.kind } : null;
}

const skus = (node, account) =>
  (account.skus ?? [])
    .filter((sku) => {
      const stations = sku.stationCodes ?? null,
        groups = sku.stationGroupCodes ?? null;
      return (!stations && !groups) || stations?.includes(node.code) || groups?.includes(node.group.code);
    })
    .map(({ code, name, allowUseInQuickSchedule }) => ({
      code,
      name,
      allowUseInQuickSchedule: allowUseInQuickSchedule === true,
    }));
