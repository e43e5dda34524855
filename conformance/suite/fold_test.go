package suite

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFold_tellsEqualFailuresTogether(t *testing.T) {
	fail := func(id, object, message string) Result {
		return Result{ID: id, Place: Place{Object: object}, Status: Fail, Message: message, Basis: Basis{Rule: object}}
	}
	a := &APIReport{Suites: []SuiteReport{{Name: "s", Reports: []*Report{{Mode: "m", Results: []Result{
		fail("a/1", "a", "element 3 of [1 2] is 0x7, want 8"),
		fail("a/2", "a", "element 12 of [1 2 -3.5] is 0x9, want 1e-07"),
		fail("b/1", "b", "element 3 of [1 2] is 9, want 8"),
		fail("a/3", "a", "NULL"),
		fail("b/2", "b", "NULL"),
		{ID: "a/4", Place: Place{Object: "a"}, Status: Crash, Message: "NULL"},
		{ID: "a/5", Status: Pass}, {ID: "a/6", Status: Skip}, {ID: "a/7", Status: NotRun},
	}}}}}}
	a.fold()
	var got [][]string
	for _, f := range a.Failures {
		ids := []string{f.ID}
		for _, x := range f.Alike {
			ids = append(ids, x.ID)
		}
		got = append(got, ids)
	}
	assert.Equal(t, [][]string{{"a/1", "a/2"}, {"b/1"}, {"a/3", "b/2"}, {"a/4"}}, got)
	assert.Equal(t, []Alike{{ID: "a/2", Mode: "m", Message: "element 12 of [1 2 -3.5] is 0x9, want 1e-07"}},
		a.Failures[0].Alike, "each case has its own message")
	assert.Equal(t, []Alike{{ID: "b/2", Mode: "m", Rule: "b"}}, a.Failures[2].Alike)
}
