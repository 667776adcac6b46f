package monitor

import "opsmon/app/instant"

// byHand is the state of a production schedule that people may count, because no device was alive at its start. It ends
// with the schedule. Before the first entry it also ends when the machine counts, or when devices were alive for
// handHeard in total.
type byHand struct {
	from int64 // start of the schedule; 0: no schedule that people may count
	sure bool  // people entered units that count: the state is known from the schedule's start
}

// handAfter is how long no device must be alive before people may count, ms.
const handAfter = 24 * 60 * instant.MinuteMs

// handHeard is how long devices must be alive during a schedule before they replace counting by people, ms. A single
// sign of life must not do so, and until it is decided the whole schedule can still change.
const handHeard = 15 * instant.MinuteMs

// heardSince returns how long devices were alive since a moment, ms.
func (s *State) heardSince(from int64) (ms int64) {
	for i := range s.tail {
		if g := &s.tail[i]; g.Known && g.End > from {
			ms += g.End - max(g.Start, from)
		}
	}
	if open := &s.tail[len(s.tail)-1]; open.Known {
		ms += s.now - max(open.End, from)
	}
	return ms
}

// unheard reports whether no device was alive for handAfter or ever.
func (s *State) unheard() bool { return !s.heard || s.now-s.lastSign >= handAfter }

// countedByHand records that people count the units of the running schedule.
func (s *State) countedByHand() {
	if s.hand.from == 0 || s.hand.sure || s.ctx.Production == "" {
		return
	}
	s.hand.sure = true
	for i := s.splitAt(s.hand.from); i < len(s.tail); i++ {
		s.tail[i].Known = true
	}
}
