package powercut

import (
	"errors"
	"fmt"
	"math/rand/v2"
)

// History is what a command did to a directory, and its output.
type History struct {
	dir  string
	root *node // the directory before
	log  []byte
}

// check compares the record with the directory as it is now.
func (h *History) check() error {
	r := h.start(func(string, bool) bool { return true })
	if err := r.run(h.log); err != nil {
		return err
	}
	problem, err := r.disk.differs(h.dir)
	if err == nil && problem != "" {
		err = errors.New("the record differs from the directory: " + problem)
	}
	return err
}

// Kept sets what the disk had of a file before the command, if that differs from what programs saw: after a failed
// sync the system no longer knows.
func (h *History) Kept(name string, content []byte) { h.root.names[name].kept = content }

// start returns a replay of the disk as it was before the command.
func (h *History) start(before func(what string, sync bool) bool) *replay {
	return &replay{
		dir: h.dir, disk: &disk{root: h.root.clone()}, before: before,
		fds: map[int]*open{}, begun: map[string]string{}, barriers: map[string]barrier{},
	}
}

// Cut is a directory that a power cut could have left. It is valid until the next one is produced.
type Cut struct {
	what string
	said []byte
	disk *disk
	// The part of the unsynced changes that survives.
	names int
	of    func(i int) fate
}

// String describes the position of the cut and the unsynced changes that survive.
func (c Cut) String() string { return c.what }

// Said returns everything that the command had written before the cut, except to files.
func (c Cut) Said() []byte { return c.said }

// Write writes the directory to dir, which must be empty.
func (c Cut) Write(dir string) error { return c.disk.leave(dir, c.names, c.of) }

// Kills yields the directory as it was before each change and at the end: what remains after the process is killed
// without a power cut.
func (h *History) Kills(yield func(Cut) bool) {
	h.cuts(func(r *replay, what string, _ bool) bool {
		return yield(Cut{what: "killed before: " + what, said: r.said, disk: r.disk, names: len(r.disk.names), of: func(int) fate { return whole }})
	})
}

// PowerCuts yields up to n directories that a power cut could have left at each sync, before it returns, and at the
// end. A cut at another point leaves one of these directories, with less output. The directories with all and with
// none of the unsynced changes are among them; rng selects the others.
func (h *History) PowerCuts(n int, rng *rand.Rand) func(yield func(Cut) bool) {
	return func(yield func(Cut) bool) {
		h.cuts(func(r *replay, what string, sync bool) bool {
			if !sync {
				return true
			}
			for i := range n {
				cut := Cut{said: r.said, disk: r.disk}
				cut.what = "power cut before: " + what + ": " + cut.pick(i, rng)
				if !yield(cut) {
					return false
				}
				if len(r.disk.content)+len(r.disk.names) == 0 {
					break // only one result is possible
				}
			}
			return true
		})
	}
}

// cuts replays the record and calls at before each change and at the end, until at returns false.
func (h *History) cuts(at func(r *replay, what string, sync bool) bool) {
	var r *replay
	r = h.start(func(what string, sync bool) bool { return at(r, what, sync) })
	if err := r.run(h.log); err != nil {
		panic(err) // check has replayed the record before
	}
	if !r.stopped {
		at(r, "the end", true)
	}
}

// pick selects the unsynced changes that survive and returns a description.
func (c *Cut) pick(i int, rng *rand.Rand) string {
	contents, names := len(c.disk.content), len(c.disk.names)
	all, none := func(int) fate { return whole }, func(int) fate { return lost }
	c.of, c.names = all, names
	switch i {
	case 0:
		return "all is there"
	case 1:
		c.of, c.names = none, 0
		return "nothing is there"
	case 2:
		c.names = 0
		return "no name is there"
	case 3:
		c.of = none
		return "names alone are there"
	}
	c.names = rng.IntN(names + 1)
	said := fmt.Sprintf("%d of %d names, ", c.names, names)
	one := rng.IntN(contents + 1)
	switch i % 4 {
	case 0:
		c.of = func(i int) fate { return pick(i == one) }
		return said + fmt.Sprintf("write %d of %d alone", one, contents)
	case 1:
		c.of = func(i int) fate { return pick(i != one) }
		return said + fmt.Sprintf("all but write %d of %d", one, contents)
	case 2:
		c.of = func(i int) fate { return pick(i < one) }
		return said + fmt.Sprintf("the first %d of %d writes", one, contents)
	}
	seed := rng.Uint64()
	c.of = func(i int) fate {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		switch rng.IntN(3) {
		case 0:
			return lost
		case 1:
			return whole
		}
		return func(change *change) []*change { return torn(change, rng) }
	}
	return said + fmt.Sprintf("any of %d writes, some torn", contents)
}

func pick(there bool) fate {
	if there {
		return whole
	}
	return lost
}

// torn returns some of the sectors of a write.
func torn(c *change, rng *rand.Rand) (pieces []*change) {
	if c.data == nil {
		return whole(c)
	}
	for start := 0; start < len(c.data); {
		at := c.at + int64(start)
		end := min(start+sector-int(at%sector), len(c.data))
		if rng.IntN(2) == 0 {
			pieces = append(pieces, &change{file: c.file, at: at, data: c.data[start:end]})
		}
		start = end
	}
	return pieces
}
