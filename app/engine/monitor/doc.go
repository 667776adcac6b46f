// Package monitor turns what happens at a station into what people see: minute windows, stops and slow periods, counts
// and energy (monitoring.md sections 1 to 3). It keeps nothing, reads no clock and starts nothing: a State takes inputs
// in and gives outputs, and the same inputs always give the same outputs. Running live, catching up after a restart,
// taking late signals in and computing a year anew are one and the same code.
//
// # How a signal becomes a number on a screen
//
//  1. Whatever happens at a station is an Input: a signal, a schedule's start or end, an operator's entry, a new manifest
//     revision. The log keeps them; Compare gives them their order.
//  2. State.Apply takes them in, one after another, and lets time pass in between: shifts begin and end, thresholds pass.
//  3. Out come Segments, Minutes and Issues. A Segment is a stretch of time in which nothing changes: its Context (shift,
//     schedule, SKU, rate, manifest revision) and its Class. A Minute holds what was measured in one minute: units and
//     kWh for each context, speed, signal strength, error codes.
//  4. Windows lays both over each other: a row a minute. A Chart does so in rows of any length, for drawing. Package oee adds
//     segments and minutes up to the terms of its ratios, and keeps the terms, so that a group or a year is a sum.
//
// # The class of a millisecond
//
// Every millisecond has one class, the first that fits: OutOfShift, Downtime that people reported (manual), NoData, Downtime,
// Slow, Productive, Idle. Beside it
// stands what the time was planned for, its Kind: nothing, a production schedule, or a non-production one. Both of the
// latter are found inside shifts alone; a schedule with ExtendShift makes its time shift time. So shift time and
// OutOfShift add up to the whole, and Times keeps every pair of kind and class.
//
// # What is only known later
//
// Four things are found out after the fact, and all are kept apart from what is settled.
//
// Silence. A station is disconnected when nothing came for five minutes (Config.AliveTimeout), and no data then runs from the
// last sign of life. So a state settles up to the last sign of life and no further; inputs that are none wait. The next sign, or the
// end of the five minutes, decides how the time between is gone through: once, and rightly. View goes through it on a
// copy, taking the station to be alive.
//
// Stops and slow periods. They are registered when their threshold passes, and start where they began. The segments since
// then wait in the state until it is decided, and get the mark and cause when it ends.
//
// When units were made. A gateway may tell the units of a minute in one signal. Where stops are found by production, the cycles
// of a signal are placed evenly over the time since the station's last count signal, when that is at most five minutes
// (Config.Spread); counts stay at their signal. So the search for stops (type search) goes through what happened no further than
// the last count signal until the next comes, or the five minutes have passed. View goes on to its moment, taking it that no
// more units come; of a station whose last report had several cycles only when the next one is half as late again as that took.
//
// Who counts. At a station of which no device was heard for a day, or ever, a production schedule may be counted by people. Its
// first entry that counts makes it known from its start to its end; until then its segments wait. A sign of life ends that.
//
// State.Final is the moment before which nothing is open. What View shows after it may come out differently the next
// time: the windows from there on are to be made again. An input that belongs before what a state has taken in is ErrLate:
// it is given to an earlier state (a Clone, or an Encode kept by the hour), and everything after it once more; windows
// change from the input's own time at most back to that state's Final.
//
// Nothing depends on when Advance, View or Encode are called: sums of floating point numbers are taken where inputs lie and
// minutes end, never where somebody looks.
//
// # Rules where the specification leaves a choice
//
//   - What falls due at a moment comes before the inputs of that moment: a stop of exactly the threshold is one.
//   - Time without data is no part of a stop: it ends a stop at the last sign of life, and what was registered only because
//     nobody knew of the silence yet is taken back. After it a stop needs its threshold again. The same holds for the end of
//     a shift (also where the next follows at once) and of a schedule.
//   - Manual downtime cuts no stop or slow period: they are judged by the machine's own signals as if it were not there. Its
//     time is part of both, and counts once, with its own cause. Units that it keeps from counting show the machine at work.
//   - A unit also starts the time anew that may become a stop, in every mode. With detection by production a machine that
//     starts to run ends a stop but not the wait for units: one that runs and makes nothing is stopped.
//   - Units by speed arise all the time that the speed is above 0, in every mode, though they are counted by the minute.
//   - Count signals within a second are one report, as good and bad units may come one after another. A signal with more than 600
//     cycles has 600 moments; between them units are taken to come as the cycles did.
//   - What people count by hand is known until the schedule ends, also where devices are heard now and then. No stop is found
//     where none is heard: it has to be reported.
//     Units that people enter while nothing is known of a station stay in its counts and in no ratio (Part.UnknownGood); what a
//     device tells is known by that.
//   - A machine is slow only while it runs: while its speed is not that of a stop.
//   - Power and speed end with silence, the productive signal holds on after it. On a station that is always connected
//     silence makes the machine "stopped" from the last sign of life until it says productive, or sends its speed, again;
//     hold-on time runs out by itself.
//   - Units made while a non-production schedule runs are not those of the schedule beneath it.
//   - Operators' entries count as units for stop detection only where the operator is the source of the count.
//   - A total never falls below zero, whatever later facts make of an entry that was right when it was made (a late batch, a
//     manual downtime over counted time, an earlier entry). When its moment comes, a reject moves as many units as the
//     schedule has good ones by then, and a negative delta takes away as many as there are; of an entry that does both the
//     deltas come first. What is left, what manual downtime and the maximum keep from counting, and an entry for a schedule
//     that does not run at its moment, is Unapplied: it is kept beside the counts of its minute, is in no sum, and later
//     units do not make up for it. A minute holds what was told in it, so its own units may be fewer than none where units
//     of earlier minutes were rejected; the sums of its schedule up to it are not. To take them from the minutes in which they
//     were made would change minutes that are final, of shifts and days that have ended, by an input that is not late, and a
//     state would have to hold each minute of a schedule, however long it runs. Who knows when they were made gives the entry
//     that moment.
//   - Energy comes from the best that a station ever sent: meter, then intervals, then power over time. A difference belongs
//     to the minute of the later reading. Beside energy stands the time that it is of: what nobody measured is not known, and
//     is no 0 (Part.KWhMs).
//   - A minute keeps the first 100 different error codes. Each still names the cause of the stop that it falls in.
//   - A quantity that speed completes is reached at the end of the minute, or of the context, whichever comes first.
package monitor
