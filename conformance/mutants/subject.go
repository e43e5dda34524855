package mutants

import (
	"embed"
	"strings"

	"github.com/anynpu/anynpu/conformance/nnapi/operations"
	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/ohnn/operators"
	"github.com/anynpu/anynpu/conformance/suite"
)

//go:embed survivors
var survivorLists embed.FS

// A Subject is a suite that must notice when an operator of its API computes wrongly.
type Subject struct {
	Suite *suite.Suite
	Mode  string

	operators func() ([]*operator, error)
}

// An operator of an API is judged by cases.
type operator struct {
	name  string
	cases []testCase
}

// A testCase is known to the children of a suite by its ID.
type testCase struct {
	id    string
	fails bool // the run must be refused
}

// Subjects are the suites that are measured.
func Subjects() []*Subject {
	return []*Subject{
		{Suite: operators.Suite(), Mode: ohnn.Manual, operators: ohnnOperators},
		{Suite: operations.Suite(), operators: nnapiOperations},
	}
}

// ohnnOperators leaves out the cases that ask no kernel, and those that ask the kernel of the judged case.
func ohnnOperators() ([]*operator, error) {
	cases, err := operators.Cases()
	if err != nil {
		return nil, err
	}
	var l list
	for _, c := range cases {
		if c.Of == "" || c.Reject != nil && c.Reject.Stage == "run" {
			l.add(c.Op, testCase{c.ID(), c.Reject != nil})
		}
	}
	return l, nil
}

func nnapiOperations() ([]*operator, error) {
	cases, err := operations.Cases()
	if err != nil {
		return nil, err
	}
	var l list
	for _, c := range cases {
		l.add(c.Op, testCase{c.ID(), c.Fails})
	}
	return l, nil
}

// list holds operators in the order of their first cases.
type list []*operator

func (l *list) add(name string, c testCase) {
	for _, o := range *l {
		if o.name == name {
			o.cases = append(o.cases, c)
			return
		}
	}
	*l = append(*l, &operator{name, []testCase{c}})
}

// Argued returns the survivors for which survivors/API.txt argues: ID to argument. The operator * stands for every one
// whose cases do not find the mutation.
func (s *Subject) Argued() (map[string]string, error) {
	text, err := survivorLists.ReadFile("survivors/" + s.Suite.API.Name + ".txt")
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for l := range strings.Lines(string(text)) {
		l = strings.TrimSpace(l)
		if id, why, ok := strings.Cut(l, " = "); ok && !strings.HasPrefix(l, "#") {
			out[strings.TrimSpace(id)] = strings.TrimSpace(why)
		}
	}
	return out, nil
}
