// Package kv keeps everything that the program keeps, in one bbolt file. It is the only importer of bbolt and knows
// nothing of what it stores: other packages declare typed buckets and work on them inside View and Update.
//
//	var stations = kv.NewBucket("stations", kv.PairOf(kv.String, kv.String), kv.JSON[Station]())
//
//	err := store.Update(func(tx *kv.Tx) error {
//		station, err := stations.Get(tx, key)
//		…
//		return stations.Put(tx, key, station)
//	})
//
// # What is promised
//
// When Update has returned without an error, its changes are on the disk: a killed process or a power cut does not
// take them back, as long as the disk keeps what it confirmed. Update keeps all of a function's changes or none. A View
// sees one moment and disturbs nobody. Nothing is cached beside bbolt and no option trades safety for speed. A new
// store is built under another name and then given its own, so no crash leaves half a store.
//
// # How a commit goes
//
// Update puts its function in a queue. Who finds nobody at work leads: takes what waits, runs every function in one bbolt
// transaction, each with a Tx of its own, commits, and wakes the others, the first of those that came meanwhile as the
// next leader. A commit costs two syncs whatever its size, so many writers go many times faster than one by one, and
// a lone one pays nothing for it. Before it takes what waits, a leader gives those that the last commit answered a moment to
// come back: otherwise the first of them would commit alone, and all others wait for that.
//
// A failed sync (see undo) is never asked again, because the system may have dropped what it could not write. A commit whose
// last sync fails is taken back by writing the older meta page again, and no write is taken before the disk confirms that. A
// process that ends before leaves that to the next one: the first write after Open writes both meta pages as they were found, and
// writes are refused until the disk confirms them. So a change that was answered as unknown stays or not, as the system still has it.
// PostgreSQL and etcd end the process instead and recover from a log; here the older state is whole on the disk, and
// reads go on meanwhile.
//
// # What is noticed
//
// bbolt has no checksums over its pages, and answers damage with a panic, a hang, an exhausted stack or wrong data. So:
//
//   - every value carries a CRC-32C over its bucket, key, format and content, checked by Get and Scan;
//   - every bucket carries a tally of its keys and their checksums, checked by Check, and by a Scan of the whole bucket;
//   - Open reads both meta pages and every page's header, and refuses a tree that does not hold together;
//   - a panic of bbolt, or a fault when the file is cut while it is mapped, becomes ErrDamaged;
//   - a page within the file that the disk does not give is ErrNoRead and no damage.
//
// Damage to a page that makes one key vanish, or puts an older page in its place, is noticed by Check alone.
//
// # What is in the file
//
//	NAME          a bucket of Config.Buckets: encoded key -> format byte, CRC-32C, document
//	_about        of this package, a bucket of the same kind: "version" -> how many migrations have run
//	_tally.NAME   empty; its sequence number is the tally of bucket NAME
package kv
