package manifest

import (
	"crypto/sha256"
	"fmt"
	"reflect"
	"time"

	"opsmon/app/errdefs"
)

// Lifetimes carries the lifetimes of plants, groups and stations from one manifest to the next.
type Lifetimes struct {
	Now  time.Time
	Gone func() (map[Place]Lifetime, error) // lifetimes from earlier manifests; called only if an entity is new
	Err  error                              // error of gone

	Left     map[Place]Lifetime // removed by the new manifest, archived now
	Returned []Place            // added again
}

// Place identifies a plant, group or station: kind is "plant", "group" or "station", key its code. A
// group's key is prefixed with its plant's code and a slash.
type Place struct{ Kind, Key string }

// short returns the place with a key that fits into the store: a group's key that is too long is replaced by its hash,
// after a colon, which no plant's code contains.
func (p Place) short() Place {
	if len(p.Key) > 1024 {
		p.Key = fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(p.Key)))
	}
	return p
}

// begin starts the lifetime of a new entity. If it existed earlier, its former lifetime continues.
func (l *Lifetimes) begin(p Place) Lifetime {
	known, err := l.Gone()
	if err != nil {
		l.Err = err
	}
	key := p.short()
	if was, ok := known[key]; ok {
		l.Returned = append(l.Returned, key)
		return Lifetime{CreatedAt: was.CreatedAt, UpdatedAt: l.Now}
	}
	return Lifetime{CreatedAt: l.Now, UpdatedAt: l.Now}
}

func (l *Lifetimes) carry(was Lifetime, changed bool) Lifetime {
	if changed {
		was.UpdatedAt = l.Now
	}
	return was
}

func (l *Lifetimes) leave(p Place, was Lifetime) {
	if l.Left == nil {
		l.Left = map[Place]Lifetime{}
	}
	was.ArchivedAt = l.Now
	l.Left[p.short()] = was
}

// branch is one plant, group or station with its parent.
type branch struct {
	place  Place
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
type parentNodes map[Place]*parentNode

func (l parentNodes) at(p Place, name, children string) *parentNode {
	if l[p] == nil {
		l[p] = &parentNode{name: name, children: children}
	}
	return l[p]
}

// branches returns the plants, groups and stations of a manifest, parents before children.
func branches(m *Manifest, l parentNodes) []branch {
	list := make([]branch, 0, m.StationCount()+len(m.Plants)*8)
	root := l.at(Place{}, "", "plants")
	for i := range m.Plants {
		p := &m.Plants[i]
		at, path := Place{"plant", p.Code}, "plants["+p.Code+"]"
		plant := l.at(at, p.Code, path+".stationGroups")
		list = append(list, branch{at, root, path, reflect.ValueOf(p).Elem(), &p.Life})
		for j := range p.Groups {
			g := &p.Groups[j]
			name := p.Code + "/" + errdefs.Shorten(g.Code)
			at, path := Place{"group", p.Code + "/" + g.Code}, "stationGroups["+name+"]"
			group := l.at(at, name, path+".stations")
			list = append(list, branch{at, plant, path, reflect.ValueOf(g).Elem(), &g.Life})
			for k := range g.Stations {
				s := &g.Stations[k]
				list = append(list, branch{Place{"station", s.Code}, group, "stations[" + s.Code + "]", reflect.ValueOf(s).Elem(), &s.Life})
			}
		}
	}
	return list
}

// plants compares the trees of plants, groups and stations and sets the lifetimes in new. A station may move to
// another group; a group belongs to its plant.
func (d *Differences) plants(old, new *Manifest, life *Lifetimes) {
	both := parentNodes{}
	oldList, newList := branches(old, both), branches(new, both)
	before := make(map[Place]*branch, len(oldList))
	for i := range oldList {
		before[oldList[i].place] = &oldList[i]
	}
	after := make(map[Place]*parentNode, len(newList))
	for i := range newList {
		b := &newList[i]
		after[b.place] = b.parent
		was, ok := before[b.place]
		if !ok {
			*b.life = life.begin(b.place)
			d.whole(b.path, "added", reflect.Value{}, b.self)
			continue
		}
		count := d.Total
		d.structs(b.path+".", was.self, b.self)
		if was.parent != b.parent {
			d.add(Change{Path: b.path + ".stationGroup", Kind: "changed", From: was.parent.name, To: b.parent.name})
		} else {
			b.parent.stayed[1] = append(b.parent.stayed[1], b.code())
		}
		*b.life = life.carry(*was.life, d.Total != count)
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

// BeginAll starts the lifetime of every plant, group and station of a first manifest: that in the document if present
// (a move from another installation), else now.
func (l *Lifetimes) BeginAll(m *Manifest) {
	for _, b := range branches(m, parentNodes{}) {
		if b.life.CreatedAt.IsZero() {
			b.life.CreatedAt = l.Now
		}
		if b.life.UpdatedAt.IsZero() {
			b.life.UpdatedAt = l.Now
		}
	}
}
