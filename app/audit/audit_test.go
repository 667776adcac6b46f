package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/kv"
	"opsmon/kv/kvtest"
)

var now = time.Date(2026, 11, 20, 9, 15, 30, 123_999_999, time.FixedZone("", 3600))

func newStore(t testing.TB) *kv.Store {
	return kvtest.New(t, func(c *kv.Config) {
		c.Buckets, c.Clock = Buckets(), func() time.Time { return now }
	})
}

func list(t testing.TB, store *kv.Store, account string, limit, skip int, action string) (targets []string, total int) {
	t.Helper()
	page := ask(t, store, account, Query{Limit: limit, Skip: skip, Action: action})
	return targetsOf(page), page.Total
}

func ask(t testing.TB, store *kv.Store, account string, q Query) (page Page) {
	t.Helper()
	err := store.View(func(tx *kv.Tx) (err error) {
		page, err = List(tx, account, q)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if page.Records == nil {
		t.Error("a nil list")
	}
	return page
}

func targetsOf(page Page) (targets []string) {
	for _, r := range page.Records {
		targets = append(targets, r.Target)
	}
	return targets
}

func TestPutAndList(t *testing.T) {
	store := newStore(t)
	actor := Actor{Email: "a@b.example", Credential: "key:abc", Address: "10.0.0.1"}
	detail := map[string]string{"role": "admin"}
	err := store.Update(func(tx *kv.Tx) error {
		return errors.Join(
			Put(tx, "plant", actor, "user.add", "one", detail),
			Put(tx, "other", actor, "user.add", "elsewhere", nil),
			Put(tx, "plant", actor, "key.create", "two", nil),
			Put(tx, "plant-2", actor, "user.add", "elsewhere", nil),
			Put(tx, "plant", actor, "user.add", "three", nil),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		limit, skip int
		action      string
		want        []string
		total       int
	}{
		{10, 0, "", []string{"three", "two", "one"}, 3},
		{2, 0, "", []string{"three", "two"}, 3},
		{2, 1, "", []string{"two", "one"}, 3},
		{2, 2, "", []string{"one"}, 3},
		{2, 3, "", nil, 3},
		{2, -1, "", []string{"three", "two"}, 3},
		{0, 0, "", nil, 3},
		{10, 0, "user.add", []string{"three", "one"}, 2},
		{1, 1, "user.add", []string{"one"}, 2},
		{10, 0, "key.create", []string{"two"}, 1},
		{10, 0, "key", nil, 0},
	} {
		got, total := list(t, store, "plant", c.limit, c.skip, c.action)
		if diff := cmp.Diff(c.want, got); diff != "" || total != c.total {
			t.Errorf("%+v: total %d, %s", c, total, diff)
		}
	}
	if got, total := list(t, store, "nowhere", 10, 0, ""); len(got) != 0 || total != 0 {
		t.Errorf("%v of %d", got, total)
	}

	var records []Record
	err = store.View(func(tx *kv.Tx) (err error) {
		page, err := List(tx, "plant", Query{Limit: 1, Skip: 2})
		records = page.Records
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(records[0])
	want := `{"seq":1,"at":"2026-11-20T08:15:30.123Z","accountId":"plant","actor":{"email":"a@b.example","credential":"key:abc","address":"10.0.0.1"},` +
		`"action":"user.add","target":"one","detail":{"role":"admin"}}`
	if err != nil || string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

// TestSearch searches for words in all fields of a record, and by time.
func TestSearch(t *testing.T) {
	store := newStore(t)
	err := store.Update(func(tx *kv.Tx) error {
		return errors.Join(
			Put(tx, "plant", Actor{Email: "ÉVA@plant.example", Credential: "session:s1", Address: "10.0.0.7"}, "user.add", "bob@plant.example", map[string]string{"role": "Admin"}),
			Put(tx, "plant", Actor{Credential: "service"}, "backup.create", "app-1.backup", map[string]string{"note": "line one\nPress 4"}),
			Put(tx, "other", Actor{Email: "éva@plant.example"}, "user.add", "elsewhere", nil),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		q    Query
		want []string
	}{
		{Query{Words: []string{"éva"}}, []string{"bob@plant.example"}},
		{Query{Words: []string{"10.0.0.7", "ADMIN", "User.", "BOB", "session:S1"}}, []string{"bob@plant.example"}},
		{Query{Words: []string{"bob", "press"}}, nil},
		{Query{Words: []string{"press", "service", "app-1"}}, []string{"app-1.backup"}},
		{Query{Words: []string{"press"}, Action: "user.add"}, nil},
		{Query{Words: []string{"role"}}, nil},
		{Query{From: now.Truncate(time.Millisecond)}, []string{"app-1.backup", "bob@plant.example"}},
		{Query{From: now.Add(time.Millisecond)}, nil},
		{Query{To: now.Truncate(time.Millisecond)}, nil},
		{Query{To: now.Add(time.Millisecond)}, []string{"app-1.backup", "bob@plant.example"}},
		{Query{Before: 2}, []string{"bob@plant.example"}},
		{Query{Before: 2, Words: []string{"press"}}, nil},
		{Query{Before: 1}, nil},
	} {
		c.q.Limit = 10
		page := ask(t, store, "plant", c.q)
		if diff := cmp.Diff(c.want, targetsOf(page)); diff != "" || page.Total != len(c.want) || page.Next != 0 {
			t.Errorf("%+v: %d in all, next %d, %s", c.q, page.Total, page.Next, diff)
		}
	}
}

// TestPieces checks that a search in several calls finds every match exactly once.
func TestPieces(t *testing.T) {
	store := newStore(t)
	const n = 2*Piece + 3
	err := store.Update(func(tx *kv.Tx) error {
		for i := range n {
			if err := Put(tx, "plant", Actor{}, "key.create", fmt.Sprint("k", i%10), nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	total, pages := 0, 0
	for q := (Query{Words: []string{"k7"}, Limit: 2}); ; pages++ {
		page := ask(t, store, "plant", q)
		total += page.Total
		if q.Before = page.Next; page.Next == 0 {
			break
		}
	}
	if total != 1000 || pages != 2 {
		t.Errorf("%d found, in %d more pieces", total, pages)
	}
	if page := ask(t, store, "plant", Query{Limit: n}); len(page.Records) != Piece || page.Total != n || page.Next != n-Piece+1 {
		t.Errorf("%d of %d, next %d", len(page.Records), page.Total, page.Next)
	}
	if page := ask(t, store, "plant", Query{Limit: n, Before: 4}); len(page.Records) != 3 || page.Total != 3 || page.Next != 0 {
		t.Errorf("%d of %d, next %d", len(page.Records), page.Total, page.Next)
	}
}

// TestFailedTransaction checks that a failed transaction leaves neither a record nor a count.
func TestFailedTransaction(t *testing.T) {
	store := newStore(t)
	broken := errors.New("broken")
	err := store.Update(func(tx *kv.Tx) error {
		return errors.Join(Put(tx, "plant", Actor{}, "user.add", "x", nil), broken)
	})
	if !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if got, total := list(t, store, "plant", 10, 0, ""); len(got) != 0 || total != 0 {
		t.Errorf("%v of %d", got, total)
	}
}

func BenchmarkList(b *testing.B) {
	store := newStore(b)
	const n = 20_000
	for i := range n / 1000 {
		err := store.Update(func(tx *kv.Tx) error {
			for j := range 1000 {
				action := "key.create"
				if i*1000+j == 0 {
					action = "manifest.apply"
				}
				if err := Put(tx, "plant", Actor{Email: "a@b.example", Credential: "key:abc"}, action, fmt.Sprint(j), map[string]string{"role": "admin"}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	for _, c := range []struct {
		name   string
		action string
	}{{"newest page", ""}, {"rarest action", "manifest.apply"}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				list(b, store, "plant", 50, 0, c.action)
			}
		})
	}
}
