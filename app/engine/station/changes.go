package station

import (
	"fmt"
	"math"

	"opsmon/app/engine/monitor"
	"opsmon/kv"
)

// SKU implements monitor.Products. If it cannot be read, the store is damaged and has logged that; the SKU is then
// treated as missing.
func (t *revisions) SKU(code string, at int64) (monitor.SKU, int64) {
	p, until, err := t.product(code, at)
	if err != nil || p.Gone {
		p = product{}
	}
	return p.SKU, until
}

// product returns a SKU at a moment, and until when it is valid.
func (t *revisions) product(code string, at int64) (p product, until int64, err error) {
	until = math.MaxInt64
	r, err := t.recordAt(at)
	if err != nil {
		return p, until, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c, err := t.skuOf(code)
	if err != nil {
		return p, until, err
	}
	n := c.upTo(r.number)
	if n > 0 {
		p = c.list[n-1].value
	}
	if n < len(c.list) {
		until = t.from(c.list[n].revision)
	}
	return p, until, nil
}

// Values returns the values of units of some SKUs at a moment, ms, and until when they are valid.
func (t *revisions) Values(skus map[string]bool, at int64) (values map[string]float64, until int64, err error) {
	values, until = map[string]float64{}, math.MaxInt64
	for code := range skus {
		p, next, err := t.product(code, at)
		if err != nil {
			return nil, 0, err
		}
		if p.HasValue {
			values[code] = p.Value
		}
		for next != math.MaxInt64 { // skip changes of other fields
			later, after, err := t.product(code, next)
			if err != nil {
				return nil, 0, err
			}
			if later.HasValue != p.HasValue || later.Value != p.Value {
				break
			}
			next = after
		}
		until = min(until, next)
	}
	return values, until, nil
}

// SKUChanged returns the first moment, ms, at which a later revision than after changed a SKU; false: none did.
func (t *revisions) SKUChanged(code string, after int64) (at int64, changed bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c, err := t.skuOf(code)
	if err != nil {
		return 0, false, err
	}
	n := c.upTo(uint64(after))
	if n == len(c.list) {
		return 0, false, nil
	}
	return t.from(c.list[n].revision), true, nil
}

// Since reports whether revisions after a revision changed rules of stations, and SKUs.
func (t *revisions) Since(revision int64) (rules, skus bool, err error) {
	if _, err := t.recordAt(math.MaxInt64); err != nil {
		return false, false, err
	}
	for _, r := range t.between(uint64(revision), math.MaxInt64) {
		rules, skus = rules || r.shape, skus || r.skus
	}
	return rules, skus, nil
}

// rulesOf returns the changes of a station's rules up to the newest revision. The caller holds mu.
func (t *revisions) rulesOf(code string, newest uint64) (*changes[digest], error) {
	c := t.stations[code]
	if c == nil {
		c = &changes[digest]{}
		t.stations[code] = c
	}
	return c, follow(t, c, newest, ruleChanges, code, func(v ruleChange) digest { return v.Rules })
}

// skuOf returns the changes of a SKU. The caller holds mu and has loaded records.
func (t *revisions) skuOf(code string) (*changes[product], error) {
	c := t.skus[code]
	if c == nil {
		c = &changes[product]{}
		t.skus[code] = c
	}
	newest := t.records[len(t.records)-1].number
	return c, follow(t, c, newest, skuChanges, code, func(v product) product { return v })
}

// follow reads the changes up to the newest revision. The caller holds mu.
func follow[V, T any](t *revisions, c *changes[T], newest uint64, b *kv.Bucket[revisionKey, V], code string, value func(V) T) error {
	if c.through >= newest {
		return nil
	}
	var more []numbered[T]
	err := t.store.View(func(tx *kv.Tx) error {
		more = nil
		for item, err := range b.Scan(tx, b.Between(ofRevision(t.account, code, c.through+1), ofRevision(t.account, code, newest+1))) {
			if err != nil {
				return fmt.Errorf("read what revisions of %s changed: %w", t.account, err)
			}
			more = append(more, numbered[T]{item.Key.B.B, value(item.Value)})
		}
		return nil
	})
	if err == nil {
		c.list, c.through = append(c.list, more...), newest
	}
	return err
}

// rules returns the rules of a station as of a revision that changed them. The caller holds mu.
func (t *revisions) rules(code string, c numbered[digest]) (*Rules, error) {
	if f := t.current.Load(); f != nil {
		if s := f.plan.Of(code); s != nil && s.Monitor.Revision == int64(c.revision) {
			return s.Rules, nil
		}
	}
	key := rulesKey{code, c.revision}
	if r := t.made[key]; r != nil {
		return r, nil
	}
	r, err := t.library.rules(code, c.value, int64(c.revision), t, t.options)
	if err != nil {
		return nil, err
	}
	if len(t.made) >= heldRules {
		clear(t.made)
	}
	t.made[key] = r
	return r, nil
}
