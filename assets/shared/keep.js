// What is kept in this browser: values of any size under a name, in IndexedDB. Where the browser has none (private windows of
// some) everything works, and nothing is kept.

let opening;

function open() {
  return (opening ??= new Promise((resolve) => {
    const asked = indexedDB.open("opsmon", 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore("kept");
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = asked.onblocked = () => resolve(null);
  }).catch(() => null));
}

async function run(mode, work) {
  const db = await open();
  if (!db) return undefined;
  return new Promise((resolve) => {
    const transaction = db.transaction("kept", mode, { durability: "strict" }); // on the disk, and not only on its way
    const asked = work(transaction.objectStore("kept"));
    transaction.oncomplete = () => resolve(asked.result);
    transaction.onerror = transaction.onabort = () => resolve(undefined);
  });
}

const below = (prefix) => IDBKeyRange.bound(prefix, `${prefix}\uffff`);

/** keep.list gives the values of all names that begin with a prefix, in the order of the names. set gives the name, or undefined when nothing was kept. */
export const keep = {
  list: (prefix) => run("readonly", (store) => store.getAll(below(prefix))).then((all) => all ?? []),
  get: (name) => run("readonly", (store) => store.get(name)),
  set: (name, value) => run("readwrite", (store) => store.put(value, name)),
  remove: (name) => run("readwrite", (store) => store.delete(name)),
};
