package suite

import "regexp"

// Failure is cases that failed alike: the first of them, and the others.
type Failure struct {
	Result
	Suite   string   `json:"suite"`
	Mode    string   `json:"mode,omitempty"`
	Alike   []Alike  `json:"alike,omitempty"`
	Calls   []string `json:"calls,omitempty"`   // of the first case, until it failed
	Program string   `json:"program,omitempty"` // in C, which shows the failure of the first case
}

// Alike is a case that failed as another one did.
type Alike struct {
	ID      string `json:"id"`
	Mode    string `json:"mode,omitempty"`
	Message string `json:"message,omitempty"` // "": that of the first case
	Rule    string `json:"rule,omitempty"`    // likewise
	Source  string `json:"source,omitempty"`  // likewise
}

// likeness is what failures have in common that are told as one: the words of their messages, and where these are not
// the same to the last digit, the object too.
type likeness struct {
	suite         string
	status        Status
	words, object string
}

// figures are numbers in messages, and lists of them.
var figures = regexp.MustCompile(
	`-?(0x[0-9a-fA-F]+|[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?|NaN|[+-]?Inf)([ ,]+-?(0x[0-9a-fA-F]+|` +
		`[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?|NaN|[+-]?Inf))*`)

// fold fills the failures of the report.
func (a *APIReport) fold() {
	each := func(f func(s *SuiteReport, mode string, x *Result)) {
		for i := range a.Suites {
			for _, rep := range a.Suites[i].Reports {
				for k := range rep.Results {
					if x := &rep.Results[k]; x.Status.bad() {
						f(&a.Suites[i], rep.Mode, x)
					}
				}
			}
		}
	}
	same := map[likeness]map[string]bool{} // objects with the very same message
	exact := func(s *SuiteReport, x *Result) likeness { return likeness{s.Name, x.Status, x.Message, ""} }
	each(func(s *SuiteReport, _ string, x *Result) {
		key := exact(s, x)
		if same[key] == nil {
			same[key] = map[string]bool{}
		}
		same[key][x.Object] = true
	})
	known := map[likeness]*Failure{}
	each(func(s *SuiteReport, mode string, x *Result) {
		key := exact(s, x)
		if len(same[key]) < 2 {
			key.words, key.object = figures.ReplaceAllString(x.Message, "#"), x.Object
		}
		f := known[key]
		if f == nil {
			f = &Failure{Result: *x, Suite: s.Name, Mode: mode}
			known[key] = f
			a.Failures = append(a.Failures, f)
			return
		}
		other := Alike{ID: x.ID, Mode: mode}
		if x.Message != f.Message {
			other.Message = x.Message
		}
		if x.Basis != f.Basis {
			other.Rule, other.Source = x.Rule, x.Source
		}
		f.Alike = append(f.Alike, other)
	})
}
