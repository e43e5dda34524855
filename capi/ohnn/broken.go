package ohnn

import (
	"io"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// broken is the program of a model that cannot be computed, for reference mode, where building such a model succeeds as
// it does with the reference implementation and only its runs are refused. It has ports and nothing else.
type broken struct{ in, out []device.Port }

// brokenProgram describes the inputs and outputs of a model as they are declared. The caller holds m.mu.
func (m *Model) brokenProgram() *broken {
	ports := func(indices []uint32) []device.Port {
		out := make([]device.Port, len(indices))
		for i, index := range indices {
			out[i] = device.Port{Name: tensorName(index), Type: m.tensors[index].typ()}
		}
		return out
	}
	return &broken{ports(m.inputs), ports(m.outputs)}
}

func (b *broken) Ports() (in, out []device.Port) { return b.in, b.out }

func (b *broken) Save(io.Writer) error { return errBroken }

func (b *broken) New(device.ExecOptions) (device.Execution, error) { return brokenExecution{}, nil }

func (b *broken) Retain() {}

func (b *broken) Release() {}

var errBroken = fault.New(fault.Unsupported, "the model cannot be computed [ohnn-model-computed]")

// brokenExecution refuses everything.
type brokenExecution struct{}

func (brokenExecution) SetShape(int, []int64) error         { return errBroken }
func (brokenExecution) BindInput(int, mem.View) error       { return errBroken }
func (brokenExecution) BindOutput(int, mem.View) error      { return errBroken }
func (brokenExecution) Start(device.RunRequest) error       { return errBroken }
func (brokenExecution) Cancel()                             {}
func (brokenExecution) OutputType(int) (tensor.Type, error) { return tensor.Type{}, errBroken }
func (brokenExecution) OutputData(int) ([]byte, error)      { return nil, errBroken }
func (brokenExecution) Stats() device.Stats                 { return device.Stats{} }
func (brokenExecution) Release()                            {}
