package suite

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// both are suites of two APIs, judged by the stand-in.
func both() []*Suite {
	first, second := judged(), judged()
	second.API, second.Name, second.Modes = &API{Name: "other", Title: "Other <API>", Soname: "libother.so"}, "more", nil
	second.Cases = func(string) ([]Item, error) {
		return []Item{{ID: "OP/a", Type: "int8"}, {ID: "OP/lacks", Type: "int8"}, {ID: "OP/wrong", Type: "float"},
			{ID: "OP/alsowrong"}, {ID: "net/b", Part: "networks", Object: "small ones"}}, nil
	}
	return []*Suite{first, second}
}

func TestRunAll_mergesSuitesOfAPIs(t *testing.T) {
	o := Options{Workers: 2, Library: func(a *API) string { return a.Soname },
		Child: func(*Suite, string, string) *exec.Cmd { return fake() }}
	var out strings.Builder
	d, err := RunAll(both(), o, &out, func(*Document) error { return nil })
	require.NoError(t, err)
	assert.False(t, d.Good)
	assert.Contains(t, out.String(), "conformance: cases 13, failed 6, skipped 1, ")
	require.Len(t, d.APIs, 2)
	other := d.APIs[1]
	assert.Equal(t, []string{"other", "libother.so", "7", "fake"}, []string{other.Name, other.Library, other.Version,
		other.Device})
	var counts []string
	for _, p := range other.Places {
		counts = append(counts, strings.Join(strs([]any{p.Part, p.Object, p.Type, p.Passed, p.Failed, p.Skipped}), " "))
	}
	assert.Equal(t, []string{"more OP int8 1 0 1", "more OP float 0 1 0", "more OP  0 1 0", "networks small ones  1 0 0"},
		counts)
	require.Len(t, other.Failures, 1)
	assert.Equal(t, "OP/wrong", other.Failures[0].ID)
	assert.Equal(t, []Alike{{ID: "OP/alsowrong"}}, other.Failures[0].Alike)
	assert.Equal(t, []*Reason{{"more", "", 1}}, other.Skipped)
	total := d.APIs[0].Total()
	assert.Equal(t, []int{8, 4, 4, 0}, []int{total.Cases, total.Passed, total.Failed, total.Skipped},
		"longwrong was not asked for")

	var text, junit, page bytes.Buffer
	require.NoError(t, d.WriteJSON(&text))
	var back Document
	require.NoError(t, json.Unmarshal(text.Bytes(), &back))
	assert.Equal(t, *d, back)
	require.NoError(t, d.WriteJUnit(&junit))
	var suites struct {
		XMLName xml.Name `xml:"testsuites"`
		Suites  []struct {
			Name  string `xml:"name,attr"`
			Tests int    `xml:"tests,attr"`
		} `xml:"testsuite"`
	}
	require.NoError(t, xml.Unmarshal(junit.Bytes(), &suites))
	require.Len(t, suites.Suites, 3)
	assert.Equal(t, "fake cases two", suites.Suites[1].Name)
	assert.Equal(t, 5, suites.Suites[2].Tests)
	require.NoError(t, d.WriteHTML(&page))
	for _, part := range []string{"Other &lt;API&gt;", "small ones", "OP/wrong", "and 1 more case", "1, want "} {
		assert.Contains(t, page.String(), part)
	}
	assert.NotRegexp(t, `(src|href)=`, page.String(), "the page needs no other file")

	o.Long, o.Filter = true, "long"
	d, err = RunAll(both(), o, &out, func(*Document) error { return nil })
	require.NoError(t, err)
	all := d.Total()
	assert.Equal(t, 2, all.Failed, "in both modes")
}
