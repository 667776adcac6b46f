package account

import (
	"reflect"
	"strings"
	"time"
)

// lifetimes carries what is known of plants, groups and stations from one manifest to the next.
type lifetimes struct {
	now  time.Time
	gone func(place) (Lifetime, bool) // what an earlier manifest had; nil when none had any

	left     map[place]Lifetime // what the new manifest lacks, archived now
	returned []place            // what is back
}

// place identifies a plant, group or station for good: kind is "plant", "group" or "station", key its code,
// a group's with its plant's before a slash.
type place struct{ kind, key string }

// begin gives a new thing its lifetime: its old one when it was there before.
func (l *lifetimes) begin(p place) Lifetime {
	if l.gone != nil {
		if was, ok := l.gone(p); ok {
			l.returned = append(l.returned, p)
			return Lifetime{CreatedAt: was.CreatedAt, UpdatedAt: l.now}
		}
	}
	return Lifetime{CreatedAt: l.now, UpdatedAt: l.now}
}

func (l *lifetimes) carry(was Lifetime, changed bool) Lifetime {
	if changed {
		was.UpdatedAt = l.now
	}
	was.ArchivedAt = time.Time{}
	return was
}

func (l *lifetimes) leave(p place, was Lifetime) {
	if l.left == nil {
		l.left = map[place]Lifetime{}
	}
	was.ArchivedAt = l.now
	l.left[p] = was
}

// branch is one plant, group or station with the key of its parent.
type branch struct {
	place  place
	parent string
	path   string
	self   reflect.Value
	life   *Lifetime
}

// branches lists the plants, groups and stations of a manifest, parents before children.
func branches(m *Manifest) []branch {
	list := make([]branch, 0, m.StationCount()+len(m.Plants)*8)
	for i := range m.Plants {
		p := &m.Plants[i]
		list = append(list, branch{place{"plant", p.Code}, "", "plants[" + p.Code + "]", reflect.ValueOf(p).Elem(), &p.Life})
		for j := range p.Groups {
			g := &p.Groups[j]
			key := p.Code + "/" + g.Code
			list = append(list, branch{place{"group", key}, p.Code, "stationGroups[" + key + "]", reflect.ValueOf(g).Elem(), &g.Life})
			for k := range g.Stations {
				s := &g.Stations[k]
				list = append(list, branch{place{"station", s.Code}, key, "stations[" + s.Code + "]", reflect.ValueOf(s).Elem(), &s.Life})
			}
		}
	}
	return list
}

// plants compares the trees of plants, groups and stations and sets the lifetimes of new. A station may move
// to another group; a group belongs to its plant.
func (d *differ) plants(old, new *Manifest, life *lifetimes) {
	oldList, newList := branches(old), branches(new)
	before := make(map[place]*branch, len(oldList))
	for i := range oldList {
		before[oldList[i].place] = &oldList[i]
	}
	after := make(map[place]string, len(newList))
	orders := map[string]*[2][]string{} // by parent's path: codes that stay, before and after
	stay := func(b *branch, side int) {
		key := b.place.kind + " " + b.parent
		if orders[key] == nil {
			orders[key] = &[2][]string{}
		}
		orders[key][side] = append(orders[key][side], b.self.FieldByName("Code").String())
	}
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
			d.add(Change{Path: b.path + ".stationGroup", Kind: "changed", From: was.parent, To: b.parent})
		} else {
			stay(b, 1)
		}
		*b.life = life.carry(*was.life, d.total != count)
	}
	var keys []string
	for i := range oldList {
		b := &oldList[i]
		parent, ok := after[b.place]
		if !ok {
			life.leave(b.place, *b.life)
			d.whole(b.path, "removed", b.self, reflect.Value{})
			continue
		}
		if parent == b.parent {
			key := b.place.kind + " " + b.parent
			if orders[key] == nil || len(orders[key][0]) == 0 {
				keys = append(keys, key)
			}
			stay(b, 0)
		}
	}
	children := map[string]string{"plant": "plants", "group": "stationGroups", "station": "stations"}
	for _, key := range keys {
		kind, parent, _ := strings.Cut(key, " ")
		path := children[kind]
		switch kind {
		case "group":
			path = "plants[" + parent + "]." + path
		case "station":
			path = "stationGroups[" + parent + "]." + path
		}
		d.order(path, orders[key][0], orders[key][1])
	}
}

// beginAll gives every plant, group and station of a first manifest its lifetime: the document's own where it
// has one (a move from another installation), else now.
func (l *lifetimes) beginAll(m *Manifest) {
	for _, b := range branches(m) {
		if b.life.CreatedAt.IsZero() {
			b.life.CreatedAt = l.now
		}
		if b.life.UpdatedAt.IsZero() {
			b.life.UpdatedAt = l.now
		}
	}
}
