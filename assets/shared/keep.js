// What is kept in this browser: values of any size under a name, in IndexedDB. Where the browser has none (private windows of
// some) everything works, and nothing is kept.

let opening;

function open() {
  return (opening ??= new Promise((resolve) => {
    const asked = indexedDB.open("opsmon", 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore("kept");
    asked.onsuccess = () => {
      const db = asked.result, forget = () => { opening = undefined; };
      db.onclose = forget; // the browser took it away; it is opened anew when it is needed
      db.onversionchange = () => { forget(); db.close(); };
      resolve(db);
    };
    asked.onerror = asked.onblocked = () => resolve(null);
  }).catch(() => null));
}

async function run(mode, work, durability = "relaxed", again = true) {
  const db = await open();
  if (!db) return undefined;
  try {
    return await attempt(db, mode, work, durability);
  } catch { // it is closing
    opening = undefined;
    return again ? run(mode, work, durability, false) : undefined;
  }
}

function attempt(db, mode, work, durability) {
  return new Promise((resolve) => {
    const transaction = db.transaction("kept", mode, { durability });
    const asked = work(transaction.objectStore("kept"));
    transaction.oncomplete = () => resolve(asked.result);
    transaction.onerror = transaction.onabort = () => resolve(undefined);
  });
}

const below = (prefix) => IDBKeyRange.bound(prefix, `${prefix}\uffff`);

/**
 * keep.list gives the values of all names that begin with a prefix, in the order of the names, or null when they cannot be read;
 * clear removes them. set gives the name, or undefined when nothing was kept; setSurely waits until it is on the disk, and not only
 * on its way.
 */
export const keep = {
  list: (prefix) => run("readonly", (store) => store.getAll(below(prefix))).then((all) => all ?? null),
  clear: (prefix) => run("readwrite", (store) => store.delete(below(prefix))),
  get: (name) => run("readonly", (store) => store.get(name)),
  set: (name, value) => run("readwrite", (store) => store.put(value, name)),
  setSurely: (name, value) => run("readwrite", (store) => store.put(value, name), "strict"),
  remove: (name) => run("readwrite", (store) => store.delete(name)),
};
