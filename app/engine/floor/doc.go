// Package floor owns what goes on at the stations of an account. It brings what happened together with the machine of
// package monitor, keeps what comes out, and answers what people ask about it (monitoring.md).
//
// # How a signal becomes a number on a screen
//
//  1. package signal stores it and answers its sender; then the Floor is told.
//  2. Each account has one worker, a goroutine. It alone changes the account's stations. A station is a tracker: a state of
//     package monitor, the base, which has taken in all that is older than two minutes, and the inputs since then.
//     The live state is the base with those inputs. One that comes out of order among them makes the live state again
//     from the base; one that is older than the base is late, and starts a backfill: the station is replayed from a stored
//     checkpoint up to now.
//  3. What people do (a schedule starts, a stop by hand, counts entered) comes through Do: a transaction of the worker.
//     It is recorded in the ledger, and after the commit the tracker takes it in like a signal.
//  4. Once an hour what the base gave out goes to package history, together with the base itself. So a restart reads one
//     state for each station and what came since.
//  5. Detail and Rows put together what is kept, what the base has given out since and what the live state shows.
//  6. What is shown of a station has a sequence number. The worker looks at a tracker when it took something in, and every two
//     seconds, or every minute where a station is silent and nothing goes on; who asks for it in between looks as well, and tells
//     the watchers. So a number stands for one value everywhere.
//     The shift so far is in it: the sum of the rows that Rows gives, of which those of past hours are added up once.
//
// A backfill within the last two days is one step, and one transaction. One from further back takes a step for each UTC day,
// with other work in between: results and checkpoints go to a staging copy of the station, and the last step, which reaches
// now, puts the copy in place. After a kill it resumes from the last checkpoint that was committed. Until the end figures
// are what they were, and the account's cursor "windows" states from when on they will change. A station that is late
// again and again is computed the more seldom, the further back that reaches. A panic or an error in a step concerns that
// station alone: it is logged, and the step is tried again later.
//
// # What devices can ask of it
//
// Inputs that no base has taken in are packed, some 30 bytes each, and bounded by their number as well as by time
// (heldMost, trackerMost): where more come in two minutes, the bases take the oldest of them in earlier, but none younger than five
// seconds. Signals that no tracker has taken in yet are bounded too. While either is too much, senders wait before their next
// signals are stored (Room), those first that have most of it; nothing is remembered beyond that.
//
// What comes of signals is bounded as well. Of a minute with more than 240 segments (segmentsMost) the order is given up: what
// differs in time alone, or in how fast units were due, is put together, and its sums stay the same; where live states have given
// out very much, their bases take in what is older than five seconds. A tracker is kept before the hour is over when its base has taken
// in very many signals since it was kept last (takenMost), or when all trackers hold much that is not kept (outputsMost), once a
// minute at most; so a restart reads few signals again. No plant sends as much in an hour, so that usually an hour is one write.
// What cannot be kept yet, such as a stop that goes on, is counted too, and senders wait while there is too much of it. Changes of
// configuration make segments as well: at half of the bound they are paced (AwaitChange), so that a thousand changes in a row do
// not have devices wait.
//
// A batch is sorted and merged, so that its order costs nothing. A step of a backfill reads the log in chunks of some
// 50,000 signals, and between two of them the worker does what others wait for: so a call is served within a fraction of a
// second, whatever devices send. Signals of the station that is being computed wait for the end of its step; where people
// do something there, the step is computed once more, the fourth time without a break.
//
// # What is derived, and what is not
//
// Signals, the ledger, findings about stops, corrections and the manifest's revisions are the truth. What package
// history keeps is derived, and can be computed again from them with the same result. What was stored late, before a
// state that is kept, is marked in the same transaction that stores it; the mark goes when it is accounted for. So
// a power cut at any line loses nothing and counts nothing twice.
//
// The bucket tree:
//
//	ledger     (account, (station, (at ms, number))) -> what happened there, by whom: for as long as signals are kept, and
//	           as what goes on began
//	ledgerLink (account, (station, device)) -> since when, ms: the live connections that there are
//	ledgerLate (account, station) -> earliest moment, ms, from which it is to be computed again
//	ledgerAgain (account, station) -> the record of the station's staged backfill
package floor
