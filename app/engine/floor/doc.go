// Package floor runs the stations of the accounts. It feeds their inputs to the state machine of package monitor, stores
// the results, and answers questions about the current state and the history (monitoring.md).
//
// # The way of a signal
//
//  1. Package signal stores it, confirms it to the sender, and passes it to the Floor.
//  2. Each account has one worker, a goroutine, which alone changes the account's stations. A station is a tracker: a
//     state of package monitor, the base, with all inputs older than two minutes, and a queue of the inputs since then.
//     The live state is the base with the inputs of the queue. An input out of order rebuilds the live state from the
//     base. An input older than the base is late and starts a backfill: the station is replayed from a stored checkpoint
//     up to now.
//  3. What people do (start a schedule, enter a stop or counts) comes through Do, in a transaction of the worker. It is
//     recorded in the ledger; after the commit the tracker processes it like a signal.
//  4. Once an hour the results of the base are stored by package history, together with the base itself. A restart reads
//     one state for each station and the inputs since.
//  5. Detail and Rows combine stored results, newer results of the base, and those of the live state.
//  6. A published status has a sequence number. The worker updates the status after new inputs and every two seconds; that
//     of a silent station without anything ongoing every minute. A reader that comes earlier updates and publishes it as
//     well, so that a number stands for the same values everywhere. The status includes the sums of the current shift,
//     which equal those of Rows; past hours are added once.
//
// A backfill of the last two days is one step and one transaction. One from further back takes a step for each UTC day,
// with other work in between: results and checkpoints go to a staging copy of the station, and the last step, which
// reaches now, replaces the station's history with it. After a kill it resumes from the last committed checkpoint. Until
// the end, figures stay as they were, and the account's cursor "windows" shows from when on they will change. A station
// that is late again and again rests between backfills, the longer the further they reach back. A panic or an error in a
// step affects only that station: it is logged, and the step is retried later.
//
// # Limits
//
// Queued inputs are packed, some 30 bytes each, and limited in number (maxPending, maxTrackerPending): if more arrive in
// two minutes, bases process the oldest earlier, but none younger than five seconds. Signals that no tracker has
// processed are limited, too. While a limit is exceeded, senders wait before their next signals are stored (Room), those
// with the largest share first.
//
// Results are limited as well. A minute with more than 240 segments is condensed (maxMinuteSegments): segments that
// differ only in time or expected rate are merged, which keeps the sums. If live states hold very many results, their
// bases process everything older than five seconds. A tracker is stored before the hour is over if it has processed very
// many signals (maxTaken) or if all trackers hold many results that are not stored (maxOutputs), once a minute at most;
// so a restart reads few signals again. No ordinary plant sends as many. Results that cannot be stored yet, such as an
// ongoing stop, count as well, and senders wait if there are too many. Changes of configuration begin new segments, too:
// at half of the limit they are paced (AwaitChange), so that a thousand changes in a row do not make devices wait.
//
// A batch of signals is sorted and merged, so that its order costs nothing. A step of a backfill reads the log in chunks
// of some 50,000 signals, and the worker does waiting work between them; so a call is served within a fraction of a
// second. Signals of the station that is being recomputed wait until the step ends. If people change that station, the
// step is recomputed, the fourth time without other work in between.
//
// # Source data and derived data
//
// Signals, the ledger, findings about stops, corrections and the manifest's revisions are source data. The history is
// derived and can be recomputed from them with the same result. A late input, which is older than a stored state, marks
// its station in the transaction that stores it; the mark is removed when the input has been processed. So a power cut at
// any line loses nothing and counts nothing twice.
//
// The bucket tree:
//
//	ledgerAgain (account, station) -> the record of the station's staged backfill
package floor
