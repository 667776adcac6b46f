package monitor

import "opsmon/app/instant"

// byHand is what is known of a production schedule that people may count, as no device was heard at its station when it began.
// It ends with the schedule; before people have entered anything, also when the machine counts, or when devices have been heard
// for handHeard in all.
type byHand struct {
	from int64 // when the schedule began; 0: none runs that people may count
	sure bool  // people have entered units that count: the schedule is known from its start
}

// handAfter is how long no device must have been heard for people's word to be all that there is, ms.
const handAfter = 24 * 60 * instant.MinuteMs

// handHeard is how long devices are heard in a schedule, ms, before they are taken to tell what goes on: a stray sign of life is
// none, and all of the schedule can still change until it is decided.
const handHeard = 15 * instant.MinuteMs

// heardSince returns for how long devices were heard since a moment, ms.
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

// unheard reports whether no device was heard for so long that none is to be expected.
func (s *State) unheard() bool { return !s.heard || s.now-s.lastSign >= handAfter }

// countedByHand takes in that people count the units of the schedule that runs.
func (s *State) countedByHand() {
	if s.hand.from == 0 || s.hand.sure || s.ctx.Production == "" {
		return
	}
	s.hand.sure = true
	for i := s.splitAt(s.hand.from); i < len(s.tail); i++ {
		s.tail[i].Known = true
	}
}
