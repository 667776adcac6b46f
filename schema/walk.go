package schema

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// step is one level of a path into a document: a property, or an element of a list.
type step struct {
	key   string
	index int // -1 for a property
}

// walker validates one document: each section with its compiled schema, and the elements of long lists in parallel.
type walker struct {
	spare chan struct{} // one token per further goroutine that may start
}

func newWalker() *walker {
	return &walker{spare: make(chan struct{}, runtime.GOMAXPROCS(0)-1)}
}

// value validates a value and the elements of its lists. path leads to the value; it is not retained.
func (w *walker) value(s *section, v any, path []step) []Violation {
	var found []Violation
	if !s.shape.accepts(v) {
		if err := s.schema.Validate(v); err != nil {
			found = s.explain(err, v, path)
		}
	}
	for i := range s.lists {
		if len(found) >= MaxViolations {
			break
		}
		l := &s.lists[i]
		items, inner := find(l, v, path)
		if len(items) > 0 {
			found = append(found, w.items(l.item, items, inner)...)
		}
	}
	return found[:min(len(found), MaxViolations)]
}

// find returns the list l and the path to it; no elements if the document does not have it.
func find(l *list, v any, path []step) ([]any, []step) {
	for _, key := range l.path {
		object, _ := v.(map[string]any)
		v = object[key]
	}
	items, _ := v.([]any)
	if len(items) == 0 {
		return nil, nil
	}
	for _, key := range l.path {
		path = append(path, step{key, -1})
	}
	return items, path
}

// The number of elements per goroutine at a time: enough to amortize the overhead, few enough to balance the load.
const (
	chunk       = 64
	nestedChunk = 2
)

// items validates the elements of a list. Chunks start in order and always finish, so the first violations of the
// document are never lost, for any number of processors.
func (w *walker) items(s *section, items []any, path []step) []Violation {
	size := chunk
	if s.nested {
		size = nestedChunk
	}
	if len(items) <= size {
		return w.run(s, items, 0, path)
	}
	var (
		found = make([][]Violation, (len(items)+size-1)/size)
		next  atomic.Int64
		total atomic.Int64
		group sync.WaitGroup
	)
	work := func(path []step) {
		for total.Load() < MaxViolations {
			k := int(next.Add(1)) - 1
			if k >= len(found) {
				return
			}
			first := k * size
			found[k] = w.run(s, items[first:min(first+size, len(items))], first, path)
			total.Add(int64(len(found[k])))
		}
	}
	for range len(found) - 1 {
		select {
		case w.spare <- struct{}{}:
			group.Go(func() {
				defer func() { <-w.spare }()
				work(append(make([]step, 0, cap(path)+4), path...))
			})
			continue
		default:
		}
		break
	}
	work(path)
	group.Wait()
	if total.Load() == 0 {
		return nil
	}
	var all []Violation
	for _, part := range found {
		all = append(all, part...)
	}
	return all[:min(len(all), MaxViolations)]
}

// run validates elements sequentially; first is the index of items[0] in the document.
func (w *walker) run(s *section, items []any, first int, path []step) []Violation {
	var found []Violation
	path = append(path, step{})
	for i, v := range items {
		path[len(path)-1] = step{index: first + i}
		found = append(found, w.value(s, v, path)...)
		if len(found) >= MaxViolations {
			return found[:MaxViolations]
		}
	}
	return found
}
