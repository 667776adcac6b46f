package signal

import (
	"testing"

	"opsmon/kv"
	"opsmon/kv/kvtest"
)

func settle(t *testing.T, l *Log, to int64) bool {
	t.Helper()
	var all bool
	if err := l.cfg.Store.Update(func(tx *kv.Tx) (err error) {
		all, err = l.Settle(tx, "acme", to)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

func lateOf(t *testing.T, l *Log, station string) (at int64, ok bool) {
	t.Helper()
	if err := l.cfg.Store.View(func(tx *kv.Tx) (err error) {
		at, ok, err = Late(tx, "acme", station)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return at, ok
}

func TestASignalOfASettledTimeIsMarked(t *testing.T) {
	store := kvtest.New(t, func(c *kv.Config) { c.Buckets = Buckets() })
	l, err := NewLog(Config{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	one := func(station string, at int64) Signal {
		return Signal{Account: "acme", Station: station, At: at, Source: "device:d"}
	}
	add := func(list ...Signal) {
		t.Helper()
		if _, err := l.Append(list); err != nil {
			t.Fatal(err)
		}
	}
	add(one("A", 1000))
	if !settle(t, l, 5000) {
		t.Fatal("the time cannot be settled although all has been told")
	}
	add(one("A", 5000), one("B", 9000))
	if at, ok := lateOf(t, l, "A"); ok {
		t.Errorf("a signal at the settled moment is late: %d", at)
	}
	add(one("A", 4000), one("A", 3000), one("B", 4999), one("A", 4500))
	add(one("A", 3500))
	for station, want := range map[string]int64{"A": 3000, "B": 4999} {
		if at, ok := lateOf(t, l, station); !ok || at != want {
			t.Errorf("station %s is marked from %d (%v), want %d", station, at, ok, want)
		}
	}
	settle(t, l, 2000) // never moves back
	add(one("C", 2500))
	if _, ok := lateOf(t, l, "C"); !ok {
		t.Error("a settled moment went back")
	}
	// except after a clock was ahead
	if err := store.Update(func(tx *kv.Tx) error { return l.Unsettle(tx, "acme", 2000) }); err != nil {
		t.Fatal(err)
	}
	add(one("D", 2000))
	if at, ok := lateOf(t, l, "D"); ok {
		t.Errorf("a signal after what is settled is late: %d", at)
	}
	if err := store.Update(func(tx *kv.Tx) error { return ClearLate(tx, "acme", "A") }); err != nil {
		t.Fatal(err)
	}
	if _, ok := lateOf(t, l, "A"); ok {
		t.Error("a mark stays when it is accounted for")
	}
	if _, ok := lateOf(t, l, "B"); !ok {
		t.Error("another station's mark went with it")
	}
}

func TestNothingIsSettledWhileASignalIsNotTold(t *testing.T) {
	store := kvtest.New(t, func(c *kv.Config) { c.Buckets = Buckets() })
	var l *Log
	told := 0
	l, err := NewLog(Config{Store: store, Appended: func(list []Signal) { told += len(list) }})
	if err != nil {
		t.Fatal(err)
	}
	// A batch that is stored and not yet passed to Appended, as immediately after a commit.
	if err := store.Update(func(tx *kv.Tx) error {
		n, err := tail.Next(tx)
		if err != nil {
			return err
		}
		return tail.Put(tx, n, pack([]Signal{{Account: "acme", Station: "A", At: 1}}, false))
	}); err != nil {
		t.Fatal(err)
	}
	if settle(t, l, 10) {
		t.Error("the time is settled although a signal that is stored has not been told")
	}
	if l, err = NewLog(Config{Store: store}); err != nil {
		t.Fatal(err)
	}
	if !settle(t, l, 10) {
		t.Error("a log that is opened anew and has read all cannot settle")
	}
}

func TestTheFirstDay(t *testing.T) {
	store := kvtest.New(t, func(c *kv.Config) { c.Buckets = Buckets() })
	l, err := NewLog(Config{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, err := l.First("acme", "A"); ok || err != nil {
		t.Errorf("a station without signals has a first day (%v)", err)
	}
	const day = 24 * 3600 * 1000
	for _, d := range []int64{7, 5, 9} {
		if _, err := l.Append([]Signal{{Account: "acme", Station: "A", At: d*day + 1}}); err != nil {
			t.Fatal(err)
		}
		if d == 5 {
			if err := l.Pack(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if d, ok, err := l.First("acme", "A"); d != 5 || !ok || err != nil {
		t.Errorf("the first day is %d (%v, %v), want 5", d, ok, err)
	}
}
