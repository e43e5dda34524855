package model

import (
	"errors"
	"fmt"
	"math"

	"github.com/anynpu/anynpu/conformance/suite/numbers"
	"github.com/anynpu/anynpu/core/tensor"
)

// Tolerances of floats, relative to the expected value, or absolute where that is below 1.
const (
	Float32Tolerance = 1e-5
	Float16Tolerance = 5.0 / (1 << 10) // also of float32 that a library may compute in float16
)

// Tolerance is the usual one of the operand's type: of codes it is in steps.
func (o *Operand) Tolerance() float64 {
	switch d := Types[o.Type].DType; {
	case d == tensor.Float16:
		return Float16Tolerance
	case d == tensor.Float32:
		return Float32Tolerance
	case o.Scale != 0:
		return 1
	}
	return 0
}

// Compare judges the bytes of an output by the operand's elements.
func (o *Operand) Compare(got []byte, tolerance float64) error {
	d := Types[o.Type].DType
	values, err := numbers.Decode(got, d, o.Count())
	if err != nil {
		return err
	}
	if len(o.Data) != len(values) {
		return fmt.Errorf("the case has %d elements, want %d", len(o.Data), len(values))
	}
	var apart numbers.Apart
	for i, want := range o.Data {
		g, w := values[i].Real, want.Real
		if d.IsFloat() {
			apart.Add(g, w, g != w && !(math.Abs(g-w) <= tolerance*math.Max(1, math.Abs(w))))
		} else {
			apart.Add(g, w, !(math.Abs(g-w) <= tolerance))
		}
	}
	if apart.Wrong() >= 0 {
		return errors.New(apart.String())
	}
	return nil
}
