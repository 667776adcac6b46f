package mqtt

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"opsmon/app/auth"
	"opsmon/app/ingest/signal"
)

// What the intake gathers before it stores: enough messages, or those of a while. Each store costs a sync and some pages of
// the disk, so that a few hundred signals a second must not make as many; devices do not mind a moment.
const (
	gatherFor = 20 * time.Millisecond
	hurryFor  = 2 * time.Millisecond // when a message's sender waits for each of its messages to be acknowledged
	enough    = 64
	most      = 4096
	queued    = 4096
)

// storeRest is how long the intake rests when the store takes nothing: devices connect and send again at once.
const storeRest = 500 * time.Millisecond

// sender is who messages come from. It is not changed once it is made.
type sender struct {
	account, source, device string
	stations                []string        // nil = every station of the account
	mine                    map[string]bool // the same
}

// newSender makes the sender that a device is.
func newSender(p auth.Principal) *sender {
	s := &sender{account: p.AccountID, source: p.Actor().Credential, device: p.DeviceID, stations: p.StationCodes, mine: map[string]bool{}}
	for _, code := range p.StationCodes {
		s.mine[code] = true
	}
	return s
}

// maySend reports whether it may send for a station.
func (s *sender) maySend(station string) bool { return s.stations == nil || s.mine[station] }

// signal returns the sender as the log of signals knows it.
func (s *sender) signal(known func(string) bool) signal.Sender {
	return signal.Sender{Account: s.account, Source: s.source, Mine: s.maySend, Known: known}
}

// message is what came at once: one signal from a device, what a mapping made of it from the plant's broker.
type message struct {
	from    *sender
	hurry   bool  // its sender sends the next when this is answered, and the last was a moment ago
	objects []any // nil when it was refused already and is only to be answered in its turn
	// answer is told what became of the objects, or that they could not be stored. It must not wait.
	answer func([]signal.Outcome, error)
}

// intake stores messages of many connections together.
type intake struct {
	take     func([]signal.Parcel) ([][]signal.Outcome, error)
	stations func(account string) (func(string) bool, error)
	log      *slog.Logger

	queue  chan message
	ctx    context.Context
	cancel context.CancelFunc
	done   sync.WaitGroup
	told   time.Time // when it was last logged that nothing can be stored
}

func newIntake(take func([]signal.Parcel) ([][]signal.Outcome, error), stations func(string) (func(string) bool, error), log *slog.Logger) *intake {
	in := &intake{take: take, stations: stations, log: log, queue: make(chan message, queued)}
	in.ctx, in.cancel = context.WithCancel(context.Background())
	in.done.Go(in.run)
	return in
}

// put hands a message over; false when ctx ends first, or the intake is closed.
func (in *intake) put(ctx context.Context, m message) bool {
	select {
	case in.queue <- m:
		return true
	case <-ctx.Done():
	case <-in.ctx.Done():
	}
	return false
}

// close ends the intake. What waits is not answered.
func (in *intake) close() {
	in.cancel()
	in.done.Wait()
}

func (in *intake) run() {
	var batch []message
	for {
		select {
		case <-in.ctx.Done():
			return
		case m := <-in.queue:
			batch = in.gather(append(batch[:0], m))
		}
		if in.ctx.Err() != nil {
			return
		}
		in.store(batch)
		clear(batch)
	}
}

// gather adds to a batch what comes soon.
func (in *intake) gather(batch []message) []message {
	timer := time.NewTimer(gatherFor)
	defer timer.Stop()
	hurry := false
	for len(batch) < enough {
		if !hurry && batch[len(batch)-1].hurry {
			hurry = true
			timer.Reset(hurryFor)
		}
		select {
		case m := <-in.queue:
			batch = append(batch, m)
		case <-timer.C:
			return batch
		case <-in.ctx.Done():
			return batch
		}
	}
	for len(batch) < most {
		select {
		case m := <-in.queue:
			batch = append(batch, m)
		default:
			return batch
		}
	}
	return batch
}

// store stores a batch and answers each of its messages, in order.
func (in *intake) store(batch []message) {
	s := in.sort(batch)
	outcomes, err := in.take(s.parcels)
	if err != nil {
		if now := time.Now(); now.Sub(in.told) > time.Minute {
			in.told = now
			in.log.Error("signals that came over MQTT could not be stored; they are not acknowledged, and devices send them again", slog.Any("error", err))
		}
	}
	for i := range batch {
		m := &batch[i]
		switch {
		case len(m.objects) == 0:
			m.answer(nil, nil)
		case err != nil:
			m.answer(nil, err)
		case s.accounts[m.from.account].err != nil:
			m.answer(nil, s.accounts[m.from.account].err)
		default:
			at := s.places[i]
			m.answer(outcomes[at.parcel][at.from:at.to], nil)
		}
	}
	if err != nil {
		sleep(in.ctx, storeRest)
	}
}

// sorted is a batch by sender.
type sorted struct {
	parcels  []signal.Parcel
	places   []parcelPlace // of each message
	accounts map[string]knownStations
}

// parcelPlace is where in the parcels a message's objects are.
type parcelPlace struct{ parcel, from, to int }

// knownStations tells which stations an account has; err: that cannot be told.
type knownStations struct {
	known func(string) bool
	err   error
}

func (in *intake) sort(batch []message) sorted {
	s := sorted{places: make([]parcelPlace, len(batch)), accounts: map[string]knownStations{}}
	index := map[*sender]int{}
	for i := range batch {
		m := &batch[i]
		if len(m.objects) == 0 {
			continue
		}
		a, seen := s.accounts[m.from.account]
		if !seen {
			a.known, a.err = in.stations(m.from.account)
			s.accounts[m.from.account] = a
		}
		if a.err != nil {
			continue
		}
		n, there := index[m.from]
		if !there {
			n = len(s.parcels)
			index[m.from] = n
			s.parcels = append(s.parcels, signal.Parcel{From: m.from.signal(a.known), Style: signal.MQTT})
		}
		p := &s.parcels[n]
		s.places[i] = parcelPlace{n, len(p.Objects), len(p.Objects) + len(m.objects)}
		p.Objects = append(p.Objects, m.objects...)
	}
	return s
}

// sleep waits; false when ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
