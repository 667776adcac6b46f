package history

import (
	"fmt"
	"math"

	"opsmon/app/column"
	"opsmon/app/instant"
	"opsmon/kv"
)

// formatState is the first byte of a stored state.
const formatState byte = 1

// PutState stores a station's state at a moment as a checkpoint: the State.Encode of a state decided up to `at`. The
// first state of each hour is kept, and the two newest, because the final results end before the newest state, so the
// rest must be calculated from the one before it. Sweep reduces those older than two days to one a day. Errors:
// kv.ErrDamaged and others of the store.
func (s *Store) PutState(tx *kv.Tx, account, station string, at int64, state []byte) error {
	fail := func(err error) error { return fmt.Errorf("keep the state of %s: %w", station, err) }
	var before []dayKey
	for item, err := range states.ScanDown(tx, of(account, station, math.MinInt64, at)) {
		if err != nil {
			return fail(err)
		}
		if before = append(before, item.Key); len(before) == 3 {
			break
		}
	}
	if len(before) == 3 && sameHour(before[1], before[2]) {
		if err := states.Delete(tx, before[1]); err != nil {
			return fail(err)
		}
	}
	if err := states.Put(tx, keyOf(account, station, at), compression.Compress([]byte{formatState}, state)); err != nil {
		return fail(err)
	}
	return nil
}

func sameHour(a, b dayKey) bool {
	x, y := numberOf(a), numberOf(b)
	return Day(x) == Day(y) && (x-Day(x)*instant.DayMs)/instant.HourMs == (y-Day(y)*instant.DayMs)/instant.HourMs
}

// StateBefore returns the last state stored before a moment, not at it, and the state's moment; nil: none.
// math.MaxInt64 returns the newest. Errors: kv.ErrDamaged and others of the store.
func (s *Store) StateBefore(tx *kv.Tx, account, station string, before int64) (at int64, state []byte, err error) {
	for item, err := range states.ScanDown(tx, of(account, station, math.MinInt64, before)) {
		if err != nil {
			return 0, nil, fmt.Errorf("read the state of %s: %w", station, err)
		}
		at := numberOf(item.Key)
		state, err := unpackState(item.Value)
		if err != nil {
			return 0, nil, broken(states.Name(), station, at, err)
		}
		return at, state, nil
	}
	return 0, nil, nil
}

func unpackState(stored []byte) ([]byte, error) {
	if len(stored) == 0 || stored[0] != formatState {
		return nil, column.ErrBroken
	}
	return compression.Decompress(stored[1:])
}

// ForgetStates deletes a station's states from a moment on. It must be called with the moment of a late input, in the
// transaction that records the input, because states from that moment on do not include it. Errors: the store's.
func (s *Store) ForgetStates(tx *kv.Tx, account, station string, from int64) error {
	r := of(account, station, from, math.MaxInt64)
	if err := drop(tx, states, r); err != nil {
		return fmt.Errorf("forget states of %s: %w", station, err)
	}
	return nil
}
