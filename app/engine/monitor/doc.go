// Package monitor calculates minute windows, stops, slow periods, counts and energy from the inputs of a station
// (monitoring.md sections 1 to 3). It stores nothing, reads no clock and starts no goroutine. A State consumes inputs
// and emits outputs, and the same inputs always lead to the same outputs. Live operation, catching up after a restart,
// late signals and the recalculation of a year therefore use the same code.
//
// # From signals to figures
//
//  1. Everything that happens at a station is an Input: a signal, a schedule's start or end, an operator's entry, a new
//     manifest revision. The log stores the inputs; Compare defines their order.
//  2. State.Apply consumes them one by one and advances time in between: shifts begin and end, thresholds pass.
//  3. The outputs are Segments, Minutes and Issues. A Segment is a range of time in which nothing changes, with its
//     Context (shift, schedule, SKU, rate, manifest revision) and its Class. A Minute has the measurements of one
//     minute: units and kWh for each context, speed, signal strength, error codes.
//  4. Windows combines segments and minutes into a row for each minute. A Chart does so for rows of any length, for
//     drawing. Package oee adds segments and minutes up to the terms of its ratios. It keeps the terms, so a group or a
//     year is a sum.
//
// # The class of a millisecond
//
// Every millisecond has one class, the first that applies: OutOfShift, Downtime that people reported (manual), NoData,
// Downtime, Slow, Productive, Idle. It also has a Kind, which is what the time was planned for: nothing, a production
// schedule or a non-production schedule. Both schedules count only inside shifts; a schedule with ExtendShift makes its
// time shift time. Shift time and OutOfShift therefore add up to the whole, and Times has a sum for every pair of kind
// and class.
//
// # Facts known only later
//
// Four facts become known only later, and are kept apart from final results.
//
// Silence. A station is disconnected when no signal came for five minutes (Config.AliveTimeout). The time without data
// then begins at the last sign of life. A state is therefore final only up to the last sign of life, and inputs that
// are not signs of life are queued. The next sign of life, or the end of the five minutes, decides how the time between
// is processed, so it is processed only once. View processes it on a copy, assuming that the station is alive.
//
// Stops and slow periods. They are registered when their threshold passes, and begin at their actual start. The
// segments since then stay in the state until that is decided, and get the start and cause when it ends.
//
// The times of units. A gateway may send the units of a minute in one signal. With detection by production, the cycles
// of a signal are spread evenly over the time since the station's previous count signal, if that is at most five
// minutes (Config.Spread). Counts stay at the time of their signal. The search for stops (type search) therefore only
// proceeds to the last count signal until the next one comes or the five minutes have passed. View proceeds to its
// moment, assuming that no more units come. For a station whose last report had several cycles it does so only when the
// next report is overdue by half of the previous interval.
//
// Counts by people. At a station whose devices sent nothing for a day or ever, people may count the units of a
// production schedule. The first entry that counts makes the state known from the schedule's start to its end. Until
// then the schedule's segments stay in the state. A sign of life ends that.
//
// State.Final is the moment before which everything is decided. Results of View after it may change: the windows from
// there on must be recalculated next time. An input before what a state has consumed is refused with ErrLate. It must
// be applied to an earlier state (a Clone, or a stored Encode), followed by all later inputs. Windows then change from
// the input's own time, or at the earliest from that state's Final.
//
// Results do not depend on when Advance, View or Encode are called: floating-point sums are taken at inputs and at the
// ends of minutes, never at the moment of a call.
//
// # Rules where the specification leaves a choice
//
//   - What is due at a moment comes before the inputs of that moment: a stop that lasts exactly the threshold is a
//     stop.
//   - Time without data is not part of a stop. It ends a stop at the last sign of life, and a stop that was registered
//     only because the silence was not yet known is withdrawn. Afterwards the threshold must pass again for a stop. The
//     same applies to the end of a shift (even if the next one follows directly) and of a schedule.
//   - Manual downtime does not split a stop or slow period. They are judged by the machine's signals as if it did not
//     exist. Its time is part of both, but counts once, with the cause of the manual downtime. Units that do not count
//     because of it still show that the machine runs.
//   - In every mode, a unit restarts the time that may become a stop. With detection by production, a machine that
//     starts to run ends a stop, but does not restart the wait for units: a machine that runs without making units is
//     stopped.
//   - Units by speed are made continuously while the speed is above 0, in every mode, although they are counted once a
//     minute.
//   - Count signals within a second are one report, because good and bad units may come one after another. A signal
//     with more than 600 cycles is spread over 600 moments, and units between them are assumed at the interval of the
//     cycles.
//   - While people count the units of a schedule, its state is known until the schedule ends, even if devices send
//     signals now and then. No stop is detected while no device does: people must report it. Units entered while the
//     state is unknown are part of the counts but of no ratio (Part.UnknownGood). Units sent by a device make the state
//     known.
//   - A machine is slow only while it runs, that is, while its speed is above that of a stop.
//   - Silence ends power and speed, but the productive signal lasts beyond it. At a station that is always connected,
//     silence makes the machine stopped from the last sign of life until it sends productive or its speed again. A
//     hold-on time still expires.
//   - Units made during a non-production schedule do not count for the production schedule that it interrupts.
//   - Operators' entries count as units for stop detection only if operators are the source of the count.
//   - A total never falls below zero, even if an entry that was valid when it was made conflicts with later facts (a
//     late batch, manual downtime over counted time, an earlier entry). At its moment, a reject moves at most as many
//     units as the schedule has good ones, and a negative delta subtracts at most as many as there are; if an entry has
//     both, the deltas come first. The rest is Unapplied, as are units that manual downtime or the maximum exclude, and
//     entries for a schedule that is not running at their moment. Unapplied units are stored with the counts of their
//     minute, are in no sum, and are not made up for by later units. A minute has what was entered in it, so its own
//     units may be negative if units of earlier minutes were rejected; the schedule's sums up to it are not.
//     Subtracting the units from the minutes in which they were made would change final minutes, of ended shifts and
//     days, although the input is not late, and would require a state with every minute of a schedule. An operator who
//     knows when the units were made can enter that time.
//   - Energy comes from the most accurate source that a station ever sent: meter, then intervals, then power over time.
//     A difference belongs to the minute of the later reading. Energy is stored with the time that it covers:
//     unmeasured energy is unknown, not 0 (Part.KWhMs).
//   - A minute keeps the first 100 different error codes. Further ones can still become the cause of their stop.
//   - A quantity completed by speed is reached at the end of the minute or of the context, whichever comes first.
package monitor
