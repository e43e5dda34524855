package ohnn

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"time"
)

// Status is the outcome of a case.
type Status string

// The outcomes.
const (
	Pass  Status = "pass"
	Fail  Status = "fail"
	Skip  Status = "skip"  // the library says that its device does not compute the operation
	Crash Status = "crash" // the process of the case died
	Hang  Status = "hang"  // the case did not end in time
)

// Result is the outcome of one case.
type Result struct {
	ID      string        `json:"id"`
	Status  Status        `json:"status"`
	Message string        `json:"message,omitempty"`
	Refusal string        `json:"refusal,omitempty"` // what the library said of a refusal that the case wants
	Time    time.Duration `json:"ns"`

	// functions of the API that the case called, where a suite records them
	Functions []string `json:"functions,omitempty"`
}

// Report is the outcome of a run of the suite.
type Report struct {
	Schema  string         `json:"schema"` // "anynpu.cts/1"
	Library string         `json:"library"`
	Version string         `json:"version"` // as in Greeting
	Device  string         `json:"device"`
	Counts  map[Status]int `json:"counts"`
	Results []Result       `json:"results"`
}

// WriteJSON writes the report as JSON.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(r)
}

// WriteJUnit writes the report in the form that CI systems read.
func (r *Report) WriteJUnit(w io.Writer) error {
	type failure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
	}
	type skipped struct {
		Message string `xml:"message,attr"`
	}
	type testcase struct {
		Name    string   `xml:"name,attr"`
		Time    string   `xml:"time,attr"`
		Failure *failure `xml:"failure,omitempty"`
		Skipped *skipped `xml:"skipped,omitempty"`
	}
	type property struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	suite := struct {
		XMLName  xml.Name   `xml:"testsuite"`
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Skipped  int        `xml:"skipped,attr"`
		About    []property `xml:"properties>property"`
		Cases    []testcase `xml:"testcase"`
	}{Name: "ohnn " + r.Library, Tests: len(r.Results), Failures: len(r.Results) - r.Counts[Pass] - r.Counts[Skip],
		Skipped: r.Counts[Skip]}
	suite.About = []property{{"library", r.Library}, {"version", r.Version}, {"device", r.Device}}
	for _, x := range r.Results {
		c := testcase{Name: x.ID, Time: fmt.Sprintf("%.6f", x.Time.Seconds())}
		switch x.Status {
		case Pass:
		case Skip:
			c.Skipped = &skipped{x.Message}
		default:
			c.Failure = &failure{x.Message, string(x.Status)}
		}
		suite.Cases = append(suite.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", " ")
	return e.Encode(suite)
}

// Summary is one line: how many operators have every case passed, the fewest cases that count for an operator, and how
// many cases failed.
func (r *Report) Summary(cases []*Case) string {
	good := map[string]bool{}
	for i, c := range cases {
		if _, seen := good[c.Op]; !seen {
			good[c.Op] = true
		}
		if r.Results[i].Status != Pass {
			good[c.Op] = false
		}
	}
	whole, fewest := 0, 0
	counts := Counts(cases)
	first := true
	for op, ok := range good {
		if ok {
			whole++
		}
		if n := counts[op]; first || n < fewest {
			fewest, first = n, false
		}
	}
	return fmt.Sprintf("ohnn operators: %d of %d, fewest cases %d, failed %d (of %d cases, %d crashes, %d hangs, %d "+
		"skipped; version %s, device %s)",
		whole, len(operators), fewest, len(cases)-r.Counts[Pass]-r.Counts[Skip], len(cases), r.Counts[Crash], r.Counts[Hang],
		r.Counts[Skip],
		r.Version, r.Device)
}
