package ohnn

import (
	"crypto/sha256"
	"sync/atomic"

	"github.com/anynpu/anynpu/core/device"
)

// port describes an input or output of a compiled model as the API shows it.
type port struct {
	name       string
	dataType   DataType
	format     Format
	tensorType TensorType
	shape      []int32 // -1: known at run time
}

// compiled is the result of a build, which executors share. It holds one reference to the program.
type compiled struct {
	npu       *npu
	program   device.Program
	placement *device.Placement
	in, out   []port
	priority  Priority
	key       modelKey    // zero when the model is not known
	defect    string      // why every run is refused, "" normally
	told      atomic.Bool // of tensors with another data type
}

func (c *compiled) release() { c.program.Release() }

// modelKey identifies a model together with the settings that its compiled form depends on.
type modelKey [sha256.Size]byte
