package suite

import (
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// WriteJUnit writes the report in the form that CI systems read: a wrong result is a failure, a crash or a hang an
// error.
func (r *Report) WriteJUnit(w io.Writer) error { return writeXML(w, r.junit()) }

// problem is why a case of JUnit's did not pass, with all that is known as its text.
type problem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// junit is the report as XML has it.
func (r *Report) junit() any {
	type testcase struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Time    string   `xml:"time,attr"`
		Failure *problem `xml:"failure,omitempty"`
		Error   *problem `xml:"error,omitempty"`
		Skipped *problem `xml:"skipped,omitempty"`
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
		Errors   int        `xml:"errors,attr"`
		Skipped  int        `xml:"skipped,attr"`
		Time     string     `xml:"time,attr"`
		About    []property `xml:"properties>property"`
		Cases    []testcase `xml:"testcase"`
	}{Name: strings.TrimSpace(strings.Join([]string{r.API, r.Suite, r.Mode}, " ")), Tests: len(r.Results),
		Failures: r.Counts[Fail], Errors: r.Counts[Crash] + r.Counts[Hang], Skipped: r.Counts[Skip] + r.Counts[NotRun],
		Time: fmt.Sprintf("%.3f", r.Seconds)}
	suite.About = []property{{"library", r.Library}, {"version", r.Version}, {"device", r.Device}}
	if r.Stopped != "" {
		suite.About = append(suite.About, property{"stopped", r.Stopped})
	}
	for i := range r.Results {
		x := &r.Results[i]
		c := testcase{Class: r.class(x), Name: x.ID, Time: fmt.Sprintf("%.6f", x.Time.Seconds())}
		switch x.Status {
		case Pass:
		case Skip:
			c.Skipped = &problem{Message: x.Message}
		case NotRun:
			c.Skipped = &problem{Message: "not run: " + x.Message}
		case Crash, Hang:
			c.Error = &problem{x.Message, string(x.Status), x.details()}
		default:
			c.Failure = &problem{x.Message, string(x.Status), x.details()}
		}
		suite.Cases = append(suite.Cases, c)
	}
	return suite
}

// noWord is what a part of the name of a class does not have.
var noWord = regexp.MustCompile(`[^A-Za-z0-9]+`)

// class is what JUnit calls the class of a case: API, suite, mode and object, with dots.
func (r *Report) class(x *Result) string {
	parts := []string{r.API, r.Suite}
	if r.Mode != "" {
		parts = append(parts, strings.ReplaceAll(r.Mode, ".", "_"))
	}
	if x.Object != "" {
		parts = append(parts, strings.Trim(noWord.ReplaceAllString(x.Object, "_"), "_"))
	}
	return strings.Join(parts, ".")
}

// details is all that is known of a case that did not pass, by lines.
func (x *Result) details() string {
	var b strings.Builder
	for _, l := range [][2]string{{"", x.Message}, {"rule: ", x.Rule}, {"source: ", x.Source}, {"signal: ", x.Signal},
		{"function: ", x.Function}} {
		if l[1] != "" {
			fmt.Fprintf(&b, "%s%s\n", l[0], l[1])
		}
	}
	return b.String()
}

func writeXML(w io.Writer, v any) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", " ")
	return e.Encode(v)
}
