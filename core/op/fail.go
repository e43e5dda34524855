package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Fail has no result: it stands in a body of If for nodes that the model's sizes forbid, and fails the run that takes
// the body.
//
// No inputs. Outputs: as many as the body has, of no known type.
type Fail struct {
	Text string // why, in the words of the error, which is of kind fault.Shape
}

func init() { graph.Register[*Fail]("fail", graph.Traits{}) }

// Infer returns the error.
func (o *Fail) Infer([]tensor.Fact, []tensor.Type) ([]tensor.Fact, error) { return nil, o.Err() }

// Err is the error of every run.
func (o *Fail) Err() error { return fault.New(fault.Shape, "%s", o.Text) }
