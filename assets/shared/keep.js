// What is kept in this browser: values of any size under a name, in IndexedDB. Where the browser has none (private windows of
// some) everything works, and nothing is kept.

/** How long opening, and anything that is done then, may take, ms. Storage that hangs is done without until it answers. */
const patience = 2000;

let db = null,
  opening = null,
  late = false; // late: what is being opened has taken longer than that

function open() {
  if (db || late) return db;
  opening ??= connect().finally(() => {
    opening = null;
    late = false;
  }); // one that failed is tried again at the next use
  const mine = opening;
  return soon(mine, () => {
    late ||= opening === mine;
    return null;
  });
}

// soon gives what comes of a promise or, when that takes too long, what instead() gives.
const soon = (promise, instead) =>
  Promise.race([
    promise,
    new Promise((done) => {
      setTimeout(() => done(instead()), patience);
    }),
  ]);

function connect() {
  return new Promise((resolve) => {
    const asked = indexedDB.open("opsmon", 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore("kept");
    asked.onsuccess = () => {
      const mine = asked.result,
        forget = () => {
          if (db === mine) db = null;
        };
      mine.onclose = forget; // the browser took it away; it is opened anew when it is needed
      mine.onversionchange = () => {
        forget();
        mine.close();
      };
      resolve((db = mine));
    };
    asked.onerror = () => resolve(null);
  }).catch(() => null);
}

async function run(mode, work, durability = "relaxed", again = true) {
  const here = await open();
  if (!here) return undefined;
  try {
    return await soon(attempt(here, mode, work, durability), () => undefined); // which may come to its end later, in its turn
  } catch {
    // it is closing
    if (db === here) db = null;
    return again ? run(mode, work, durability, false) : undefined;
  }
}

function attempt(here, mode, work, durability) {
  return new Promise((resolve) => {
    const transaction = here.transaction("kept", mode, { durability });
    const asked = work(transaction.objectStore("kept"));
    transaction.oncomplete = () => resolve(asked.result);
    transaction.onerror = transaction.onabort = () => resolve(undefined);
  });
}

const below = (prefix) => IDBKeyRange.bound(prefix, `${prefix}\uffff`);

/**
 * keep.list gives the values of all names that begin with a prefix, in the order of the names, or null when they cannot be read;
 * clear removes them. set gives the name and remove 0, or undefined when it was not done, or not yet; setSurely waits until it is
 * on the disk, and not only on its way.
 */
export const keep = {
  list: (prefix) => run("readonly", (store) => store.getAll(below(prefix))).then((all) => all ?? null),
  clear: (prefix) => run("readwrite", (store) => store.delete(below(prefix))),
  get: (name) => run("readonly", (store) => store.get(name)),
  set: (name, value) => run("readwrite", (store) => store.put(value, name)),
  setSurely: (name, value) => run("readwrite", (store) => store.put(value, name), "strict"),
  remove: (name) =>
    run("readwrite", (store) => {
      store.delete(name);
      return store.count(name);
    }),
};
