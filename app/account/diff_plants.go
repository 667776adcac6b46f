package account

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"opsmon/app/errdefs"
	"opsmon/kv"
)

// lifetimes carries the lifetimes of plants, groups and stations from one manifest to the next.
type lifetimes struct {
	now  time.Time
	gone func() (map[goneKey]Lifetime, error) // lifetimes from earlier manifests; called only if an entity is new
	err  error                                // error of gone

	left     map[goneKey]Lifetime // removed by the new manifest, archived now
	returned []goneKey            // added again
}

// place identifies a plant, group or station permanently: kind is "plant", "group" or "station", key its code. A
// group's key is prefixed with its plant's code and a slash.
type place struct{ kind, key string }

// goneKey is the stored form of a place: kind, and key.
type goneKey = kv.Pair[string, string]

// stored returns the stored form of a place. A group's key that is too long for the store is replaced by its hash,
// after a colon, which no plant's code contains.
func (p place) stored() goneKey {
	if len(p.key) > 1024 {
		return goneKey{A: p.kind, B: fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(p.key)))}
	}
	return goneKey{A: p.kind, B: p.key}
}

// begin starts the lifetime of a new entity. If it existed earlier, its former lifetime continues.
func (l *lifetimes) begin(p place) Lifetime {
	known, err := l.gone()
	if err != nil {
		l.err = err
	}
	key := p.stored()
	if was, ok := known[key]; ok {
		l.returned = append(l.returned, key)
		return Lifetime{CreatedAt: was.CreatedAt, UpdatedAt: l.now}
	}
	return Lifetime{CreatedAt: l.now, UpdatedAt: l.now}
}

func (l *lifetimes) carry(was Lifetime, changed bool) Lifetime {
	if changed {
		was.UpdatedAt = l.now
	}
	return was
}

func (l *lifetimes) leave(p place, was Lifetime) {
	if l.left == nil {
		l.left = map[goneKey]Lifetime{}
	}
	was.ArchivedAt = l.now
	l.left[p.stored()] = was
}

// branch is one plant, group or station with its parent.
type branch struct {
	place  place
	parent *parentNode
	path   string
	self   reflect.Value
	life   *Lifetime
}

// parentNode is a parent of plants, groups or stations: the account, a plant or a group. Both compared manifests share the
// parentNode of a place, so a long code above many stations is compared once.
type parentNode struct {
	name     string      // "leeds/packing"; "" for the account
	children string      // path of the list of children
	stayed   [2][]string // the children that remain, in the order before and after
}

// parentNodes are the parents in two manifests.
type parentNodes map[place]*parentNode

func (l parentNodes) at(p place, name, children string) *parentNode {
	if l[p] == nil {
		l[p] = &parentNode{name: name, children: children}
	}
	return l[p]
}

// branches returns the plants, groups and stations of a manifest, parents before children.
func branches(m *Manifest, l parentNodes) []branch {
	list := make([]branch, 0, m.StationCount()+len(m.Plants)*8)
	root := l.at(place{}, "", "plants")
	for i := range m.Plants {
		p := &m.Plants[i]
		at, path := place{"plant", p.Code}, "plants["+p.Code+"]"
		plant := l.at(at, p.Code, path+".stationGroups")
		list = append(list, branch{at, root, path, reflect.ValueOf(p).Elem(), &p.Life})
		for j := range p.Groups {
			g := &p.Groups[j]
			name := p.Code + "/" + errdefs.Shorten(g.Code)
			at, path := place{"group", p.Code + "/" + g.Code}, "stationGroups["+name+"]"
			group := l.at(at, name, path+".stations")
			list = append(list, branch{at, plant, path, reflect.ValueOf(g).Elem(), &g.Life})
			for k := range g.Stations {
				s := &g.Stations[k]
				list = append(list, branch{place{"station", s.Code}, group, "stations[" + s.Code + "]", reflect.ValueOf(s).Elem(), &s.Life})
			}
		}
	}
	return list
}

// plants compares the trees of plants, groups and stations and sets the lifetimes in new. A station may move to
// another group; a group belongs to its plant.
func (d *differ) plants(old, new *Manifest, life *lifetimes) {
	both := parentNodes{}
	oldList, newList := branches(old, both), branches(new, both)
	before := make(map[place]*branch, len(oldList))
	for i := range oldList {
		before[oldList[i].place] = &oldList[i]
	}
	after := make(map[place]*parentNode, len(newList))
	for i := range newList {
		b := &newList[i]
		after[b.place] = b.parent
		was, ok := before[b.place]
		if !ok {
			*b.life = life.begin(b.place)
			d.whole(b.path, "added", reflect.Value{}, b.self)
			continue
		}
		count := d.total
		d.structs(b.path+".", was.self, b.self)
		if was.parent != b.parent {
			d.add(Change{Path: b.path + ".stationGroup", Kind: "changed", From: was.parent.name, To: b.parent.name})
		} else {
			b.parent.stayed[1] = append(b.parent.stayed[1], b.code())
		}
		*b.life = life.carry(*was.life, d.total != count)
	}
	var parents []*parentNode // parents with a remaining child, in the order of old
	for i := range oldList {
		b := &oldList[i]
		switch parent, ok := after[b.place]; {
		case !ok:
			life.leave(b.place, *b.life)
			d.whole(b.path, "removed", b.self, reflect.Value{})
		case parent == b.parent:
			if parent.stayed[0] == nil {
				parents = append(parents, parent)
			}
			parent.stayed[0] = append(parent.stayed[0], b.code())
		}
	}
	for _, l := range parents {
		d.order(l.children, l.stayed[0], l.stayed[1])
	}
}

func (b *branch) code() string { return b.self.FieldByName("Code").String() }

// beginAll starts the lifetime of every plant, group and station of a first manifest: that in the document if present
// (a move from another installation), else now.
func (l *lifetimes) beginAll(m *Manifest) {
	for _, b := range branches(m, parentNodes{}) {
		if b.life.CreatedAt.IsZero() {
			b.life.CreatedAt = l.now
		}
		if b.life.UpdatedAt.IsZero() {
			b.life.UpdatedAt = l.now
		}
	}
}

// gone returns the lifetimes of plants, groups and stations of earlier manifests.
func (s *Service) gone(id string) (map[goneKey]Lifetime, error) {
	known := map[goneKey]Lifetime{}
	err := s.store.View(func(tx *kv.Tx) error {
		for item, err := range gone.Scan(tx, kv.Under(gone, id)) {
			if err != nil {
				return fmt.Errorf("read former stations: %w", err)
			}
			known[item.Key.B] = Lifetime(item.Value)
		}
		return nil
	})
	return known, err
}

// store stores the lifetimes of removed entities and deletes those of returned ones, in key order: another order
// would take many times as long for thousands of keys.
func (l *lifetimes) store(tx *kv.Tx, id string) error {
	byKey := func(a, b goneKey) int { return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B)) }
	for _, k := range slices.SortedFunc(maps.Keys(l.left), byKey) {
		if err := gone.Put(tx, kv.Pair[string, goneKey]{A: id, B: k}, storedLifetime(l.left[k])); err != nil {
			return err
		}
	}
	for _, k := range slices.SortedFunc(slices.Values(l.returned), byKey) {
		if err := gone.Delete(tx, kv.Pair[string, goneKey]{A: id, B: k}); err != nil {
			return err
		}
	}
	return nil
}
