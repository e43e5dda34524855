package operators

import (
	"fmt"
	"slices"

	"github.com/anynpu/anynpu/conformance/ohnn/model"
	"github.com/anynpu/anynpu/conformance/suite"
)

// model is the case as a model of one operation.
func (c *Case) model() *model.Model {
	m := &model.Model{Tensors: c.Tensors, Outputs: c.Out, Tolerance: c.Tolerance,
		Operations: []model.Operation{{Op: c.Op, In: c.In, Params: c.Params, Out: c.Out}}}
	for _, i := range c.In {
		if c.Tensors[i].Feed != nil {
			m.Inputs = append(m.Inputs, i)
		}
	}
	return m
}

// compute computes the case with the library and judges the result; a nil error means that the case passed. message is
// what the library says of a refusal that the case wants, rounding how it rounds halves where the case leaves that
// open; both are "" if there is nothing to say. The thread must be locked: messages belong to it.
func (c *Case) compute(l *suite.Library) (message, rounding string, err error) {
	s := &model.Session{Library: l, Model: c.model()}
	defer s.Close()
	if c.Reject != nil {
		s.Refused = map[string][]int{c.Reject.Stage: c.Reject.Codes}
	}
	rounding, err = c.execute(s)
	if c.Reject == nil {
		return "", rounding, err
	}
	refused, ok := err.(*model.Refusal)
	switch {
	case err == nil:
		return "", "", fmt.Errorf("accepted; must be refused at %s", c.Reject.Stage)
	case !ok:
		return "", "", err
	case c.Reject.Stage != refused.Stage || !slices.Contains(c.Reject.Codes, refused.Code):
		return "", "", fmt.Errorf("%w; want %s with one of %v", err, c.Reject.Stage, c.Reject.Codes)
	}
	if !l.HasMessages() {
		return "", "", nil
	}
	message = l.LastError()
	return message, "", c.checkMessage(message)
}

// execute builds, compiles and runs the case. A refusal that is expected is asked for in any case; before a case whose
// result counts is compiled, the library is asked whether it computes it.
func (c *Case) execute(s *model.Session) (rounding string, err error) {
	if err := s.Build(); err != nil {
		return "", err
	}
	if c.Reject == nil {
		if err := s.Available(); err != nil {
			return "", err
		}
	}
	if err := s.Compile(); err != nil {
		return "", err
	}
	run, err := s.NewRun()
	if err == nil {
		err = run.Do()
	}
	if err != nil || c.Reject != nil {
		return "", err
	}
	if rounding, err = run.Judge(); err != nil {
		return "", err
	}
	return rounding, again(run)
}

// again computes other inputs and then those of the case once more: nothing that a run leaves behind may reach the
// next. Other inputs may be refused, as indices and sizes are inputs, too.
func again(run *model.Run) error {
	run.FillBackwards()
	_ = run.Do()
	run.Fill()
	if err := run.Do(); err != nil {
		return fmt.Errorf("computed again: %w", err)
	}
	if _, err := run.Judge(); err != nil {
		return fmt.Errorf("computed again: %w", err)
	}
	return nil
}
