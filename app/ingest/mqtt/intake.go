package mqtt

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"opsmon/app/auth"
	"opsmon/app/ingest/signal"
)

// The intake stores a batch when it has enough messages or after a while. Each batch costs a sync and some pages of
// the disk, so a few hundred signals a second must share batches; devices tolerate the delay.
const (
	batchDelay  = 20 * time.Millisecond
	urgentDelay = 2 * time.Millisecond // if a sender waits for the acknowledgement of each message
	enough      = 64
	most        = 4096
	queued      = 4096
)

// storeRest is the pause after the store failed, because devices reconnect and repeat immediately.
const storeRest = 500 * time.Millisecond

// sender is a sender of messages. It is immutable.
type sender struct {
	account, source, device string
	stations                []string        // nil = all stations of the account
	mine                    map[string]bool // the same as a set
}

// newSender returns the sender of a device.
func newSender(p auth.Principal) *sender {
	s := &sender{account: p.AccountID, source: p.Actor().Credential, device: p.DeviceID, stations: p.StationCodes, mine: map[string]bool{}}
	for _, code := range p.StationCodes {
		s.mine[code] = true
	}
	return s
}

// maySend reports whether the sender may send signals of a station.
func (s *sender) maySend(station string) bool { return s.stations == nil || s.mine[station] }

// signal returns the sender for the log of signals.
func (s *sender) signal(known func(string) bool) signal.Sender {
	return signal.Sender{Account: s.account, Source: s.source, Mine: s.maySend, Known: known}
}

// message is a unit of acknowledgement: one signal from a device, or all signals that a mapping derived from one
// message of the plant's broker.
type message struct {
	from    *sender
	urgent  bool  // the sender waits for this acknowledgement before it sends the next message
	objects []any // nil if already refused, only to be answered in order
	// answer receives the outcomes of the objects, or the error of the store. It must not block.
	answer func([]signal.Outcome, error)
}

// intake stores messages of many connections in common batches.
type intake struct {
	take     func([]signal.Parcel) ([][]signal.Outcome, error)
	stations func(account string) (func(string) bool, error)
	log      *slog.Logger

	queue      chan message
	ctx        context.Context
	cancel     context.CancelFunc
	done       sync.WaitGroup
	lastLogged time.Time // when a failure to store was last logged
}

func newIntake(take func([]signal.Parcel) ([][]signal.Outcome, error), stations func(string) (func(string) bool, error), log *slog.Logger) *intake {
	in := &intake{take: take, stations: stations, log: log, queue: make(chan message, queued)}
	in.ctx, in.cancel = context.WithCancel(context.Background())
	in.done.Go(in.run)
	return in
}

// put queues a message; false if ctx ends first or the intake is closed.
func (in *intake) put(ctx context.Context, m message) bool {
	select {
	case in.queue <- m:
		return true
	case <-ctx.Done():
	case <-in.ctx.Done():
	}
	return false
}

// close stops the intake. Queued messages are not answered.
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

// gather adds the messages that arrive soon to a batch.
func (in *intake) gather(batch []message) []message {
	timer := time.NewTimer(batchDelay)
	defer timer.Stop()
	urgent := false
	for len(batch) < enough {
		if !urgent && batch[len(batch)-1].urgent {
			urgent = true
			timer.Reset(urgentDelay)
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
		if now := time.Now(); now.Sub(in.lastLogged) > time.Minute {
			in.lastLogged = now
			in.log.Error("storing MQTT signals failed; they are not acknowledged, so devices will repeat them", slog.Any("error", err))
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

// sorted is a batch grouped by sender.
type sorted struct {
	parcels  []signal.Parcel
	places   []parcelPlace // of each message
	accounts map[string]knownStations
}

// parcelPlace is the position of a message's objects in the parcels.
type parcelPlace struct{ parcel, from, to int }

// knownStations is the result of looking up an account's stations.
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

// sleep waits; false if ctx ends first.
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
