// What is shown: what the service told, and on top of it what was done here and is not known there yet, as if it had happened.

const iso = (at) => new Date(at).toISOString();

// What an action makes has no id of the service's yet: it is @ID of the action (queue.js).
const effects = [
  [
    /^\/production$/,
    (view, { id, at, body, counted, run: ran }) => {
      const run = counted || !same(view.run, ran) ? null : view.run;
      if (
        view.entries.some(
          (e) =>
            Date.parse(e.at) === Date.parse(body.at) &&
            e.initials === body.initials &&
            e.good === (body.good ?? 0) &&
            e.bad === (body.bad ?? 0) &&
            e.reject === (body.reject ?? 0),
        )
      )
        return; // it is there
      view.entries.push({
        id: `@${id}`,
        at: iso(at),
        good: body.good ?? 0,
        bad: body.bad ?? 0,
        reject: body.reject ?? 0,
        correction: Boolean(body.correction),
        initials: body.initials,
        waits: true,
      });
      if (!run) return;
      const { good, bad } = effectOf(body, run.countedByHand);
      Object.assign(run, { goodCount: run.goodCount + good, badCount: run.badCount + bad, waits: true });
    },
  ],
  [
    /^\/production\/([^/]+)\/undo$/,
    (view, { counted, run: ran }, id) => {
      const entry = view.entries.find((e) => e.id === id && !e.undoneBy);
      if (!entry) return;
      entry.undoneBy = "waits";
      if (counted || !view.run || !same(view.run, ran) || (entry.scheduleId && entry.scheduleId !== view.run.id))
        return;
      const { good, bad } = effectOf(entry, view.run.countedByHand);
      Object.assign(view.run, { goodCount: view.run.goodCount - good, badCount: view.run.badCount - bad, waits: true });
    },
  ],
  [
    /^\/schedule\/([^/]+)\/start$/,
    (view, _, id) => {
      const planned = view.planned.find((s) => s.id === id);
      if (!planned) return;
      view.planned = view.planned.filter((s) => s !== planned);
      begin(view, planned, planned.kind);
    },
  ],
  [
    /^\/schedule\/([^/]+)\/end$/,
    (view, _, id) => {
      if (view.run?.id === id) view.run = null;
      if (view.pause?.id === id) view.pause = null;
    },
  ],
  [
    /^\/quick-schedule$/,
    (view, { id, body }) => begin(view, { ...body, id: `@${id}` }, body.skuCode ? "production" : "nonProduction"),
  ],
  [
    /^\/issue$/,
    (view, { id, at, body, stamp }) => {
      if (body.endAt || stamp === "endAt") view.manual = null;
      else
        view.manual ??= {
          id: `@${id}`,
          type: "manual",
          startAt: iso(at),
          causeCode: body.causeCode ?? null,
          waits: true,
        };
    },
  ],
  [
    /^\/issue\/([^/]+)\/cause$/,
    (view, { body }, id) => {
      for (const issue of [...view.issues, view.stop, view.manual])
        if (issue?.id === id) Object.assign(issue, { causeCode: body.causeCode, uncausedMs: 0, waits: true });
    },
  ],
  [
    /^\/task\/([^/]+)\/complete$/,
    (view, { body }, id) => {
      const task = view.tasks.find((t) => t.id === id);
      if (task) Object.assign(task, { state: "completed", completedBy: body.initials, waits: true });
    },
  ],
  [
    /^\/message$/,
    (view, { id, at, body }) => {
      view.messages.unshift({
        id: `@${id}`,
        text: body.text,
        initials: body.initials,
        at: iso(at),
        shiftName: null,
        doneAt: null,
        waits: true,
      });
    },
  ],
  [
    /^\/message\/([^/]+)\/done$/,
    (view, { at, body }, id) => {
      const message = view.messages.find((m) => m.id === id && !m.doneAt);
      if (message) Object.assign(message, { doneAt: iso(at), doneBy: body.initials, waits: true });
    },
  ],
  [
    /^\/task-list\/([^/]+)\/start$/,
    (view, _, code) => {
      view.started.add(code);
    },
  ],
];

// same tells whether a schedule is the one that ran when something was entered, as far as is known.
const same = (run, ran) => !ran || ran.startsWith("@") || run?.id === ran;

/** effectOf gives what an entry adds to the counts of a schedule: {good, bad}. */
export function effectOf({ good = 0, bad = 0, reject = 0, correction = false }, byHand) {
  return { good: (byHand || correction ? good : 0) - reject, bad: bad + reject };
}

function begin(
  view,
  {
    id,
    skuCode = null,
    reasonCode = null,
    plannedQuantity = null,
    workOrderReference = null,
    plannedEndAt = null,
    expectedEndAt = null,
  },
  kind,
) {
  const run = {
    id,
    skuCode,
    reasonCode,
    plannedQuantity,
    workOrderReference,
    plannedEndAt,
    expectedEndAt,
    goodCount: 0,
    badCount: 0,
    idealCount: null,
    targetCount: null,
    countedByHand: true,
    waits: true,
  };
  if (kind === "production") view.run = run;
  else view.pause = run;
}

/**
 * shown gives what to show of a station (station.js) under actions, which are as the queue has them and not known to the service
 * as far as is known: {status, noSignalYet, since, run, pause, stop, manual, planned, issues, entries, tasks, messages, started}. run is the production
 * schedule and pause the non-production one, with what is planned of them; started are the Task lists that are being started.
 * What is not known to be done has waits.
 */
export function shown(station, actions) {
  const now = station.now ?? {};
  const open = (type) => copy(now.issues?.find((i) => i.type === type));
  const view = {
    status: now.statusCode,
    noSignalYet: now.noSignalYet,
    since: now.statusCodeUpdatedAt,
    run: running(station, now.schedule),
    pause: running(station, now.nonProductionSchedule),
    stop: open("stop"),
    manual: open("manual"),
    planned: station.planned ?? [],
    issues: (station.issues ?? []).map(copy),
    entries: (station.entries ?? []).map(copy),
    tasks: (station.tasks ?? []).map(copy),
    messages: (station.messages ?? []).map(copy),
    started: new Set(),
  };
  const manual = Boolean(view.manual);
  for (const action of actions) {
    if (action.station !== station.code) continue;
    const path = action.path.split("?")[0];
    for (const [pattern, effect] of effects) {
      const found = pattern.exec(path);
      if (found) effect(view, action, found[1] && decodeURIComponent(found[1]));
    }
  }
  if (view.manual && !manual && (view.status !== "disconnected" || view.noSignalYet))
    Object.assign(view, { status: "manualDowntime", since: view.manual.startAt });
  return view;
}

const copy = (value) => value && { ...value };

function running({ running: details }, run) {
  if (!run) return null;
  const {
    workOrderReference = null,
    plannedEndAt = null,
    expectedEndAt = null,
    actualStartAt = null,
    note = null,
  } = details.get(run.id) ?? {};
  return { ...run, workOrderReference, plannedEndAt, expectedEndAt, actualStartAt, note };
}
