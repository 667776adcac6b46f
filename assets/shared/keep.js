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
    const transaction = db.transaction("kept", mode);
    const asked = work(transaction.objectStore("kept"));
    transaction.oncomplete = () => resolve(asked.result);
    transaction.onerror = transaction.onabort = () => resolve(undefined);
  });
}

export const keep = {
  get: (name) => run("readonly", (store) => store.get(name)),
  set: (name, value) => run("readwrite", (store) => store.put(value, name)),
  remove: (name) => run("readwrite", (store) => store.delete(name)),
};
