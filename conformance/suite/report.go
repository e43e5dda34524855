package suite

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"strings"
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
	ID string `json:"id"`
	Place
	Status  Status `json:"status"`
	Message string `json:"message,omitempty"`
	Refusal string `json:"refusal,omitempty"` // what the library said of a refusal that the case wants

	// Rounding is how the library rounds halves in a case that leaves it open.
	Rounding string `json:"rounding,omitempty"`

	// Placement is how many operations of a model each device has, where the library tells.
	Placement map[string]int `json:"placement,omitempty"`

	Time time.Duration `json:"ns"`

	// functions of the API that the case called, where the suite records them
	Functions []string `json:"functions,omitempty"`
}

// schema names the form of the JSON report.
const schema = "anynpu.cts/1"

// Report is the outcome of the cases of a suite in one mode.
type Report struct {
	Schema  string         `json:"schema"` // "anynpu.cts/1"
	API     string         `json:"api"`
	Suite   string         `json:"suite"`
	Mode    string         `json:"mode,omitempty"`
	Library string         `json:"library"`
	Version string         `json:"version"` // as in Greeting
	Device  string         `json:"device"`  // likewise
	Seconds float64        `json:"seconds"` // from the start of the first case to the end of the last
	Counts  map[Status]int `json:"counts"`
	Results []Result       `json:"results"`
}

// add adds the result of a child that greeted so.
func (r *Report) add(x Result, from Greeting) {
	r.Results = append(r.Results, x)
	r.Counts[x.Status]++
	if from.Version != "" {
		r.Version = from.Version
	}
	if from.Device != "" {
		r.Device = from.Device
	}
}

// failed counts the cases that neither passed nor were skipped.
func (r *Report) failed() int { return len(r.Results) - r.Counts[Pass] - r.Counts[Skip] }

// passed are the IDs of the cases that passed.
func (r *Report) passed() map[string]bool {
	out := map[string]bool{}
	for _, x := range r.Results {
		if x.Status == Pass {
			out[x.ID] = true
		}
	}
	return out
}

// WriteJSON writes the report as JSON.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(r)
}

// WriteJUnit writes the report in the form that CI systems read.
func (r *Report) WriteJUnit(w io.Writer) error { return writeXML(w, r.junit()) }

// junit is the report as XML has it.
func (r *Report) junit() any {
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
	}{Name: strings.TrimSpace(strings.Join([]string{r.API, r.Suite, r.Mode}, " ")), Tests: len(r.Results),
		Failures: r.failed(), Skipped: r.Counts[Skip]}
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
	return suite
}

func writeXML(w io.Writer, v any) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", " ")
	return e.Encode(v)
}

// Save writes a report to a file.
func Save(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
