package errdefs

import (
	"errors"
	"slices"
	"testing"
)

func TestProblems(t *testing.T) {
	var p Problems
	if p.Err("the body") != nil {
		t.Error("no problem is one")
	}
	p.Add("a.b[1]", "must be text")
	p.Add("c", "is not a known field")
	p.Merge([]Detail{
		{Field: "a.b[1]", Issue: "the same"}, {Field: "a", Issue: "what holds it"}, {Field: "a.b[1].x", Issue: "what is in it"}, {Field: "c", Issue: "the same"},
		{Field: "d", Issue: "follows", Given: "e,c"}, {Field: "", Issue: "the whole"},
		{Field: "a.b[10]", Issue: "another"}, {Field: "cc", Issue: "another"}, {Field: "d", Issue: "stays", Given: "e"}, {Field: "d", Issue: "a second one"},
	})
	var got []string
	for _, d := range p {
		got = append(got, d.Field+" "+d.Issue)
	}
	want := []string{"a.b[1] must be text", "c is not a known field", "a.b[10] another", "cc another", "d stays", "d a second one"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if err := p.Err("the body"); KindOf(err) != Invalid || err.Error() != "the body has 6 problems" {
		t.Error(err)
	}
	p = nil
	if err := p.Take(InvalidField("a", "must be text")); err != nil || len(p) != 1 {
		t.Errorf("%v, %v", p, err)
	}
	for _, err := range []error{nil, errors.New("x"), New(Conflict, "x"), New(Invalid, "x")} {
		if got := p.Take(err); got != err || len(p) != 1 {
			t.Errorf("%v is taken: %v", err, got)
		}
	}
	p.Merge([]Detail{{Field: "a", Issue: "x"}})
	if len(p) != 1 {
		t.Errorf("%v", p)
	}
	p = Problems{{Field: "", Issue: "must be an object"}} // of the body itself: no other problem is reported
	if p.Merge([]Detail{{Field: "a", Issue: "x"}}); len(p) != 1 {
		t.Errorf("%v", p)
	}
}
