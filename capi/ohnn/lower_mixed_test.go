package ohnn

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/anynpu/anynpu/core/tensor"
)

// The order of the operator notes, section 9, and their one exception; then what they leave out.
func TestCommon(t *testing.T) {
	order := []tensor.DType{tensor.Bool, tensor.Uint8, tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64,
		tensor.Float16, tensor.Float32, tensor.Float64}
	for i, a := range order {
		for k, b := range order {
			want := order[max(i, k)]
			if i+k == 3 && i*k == 2 { // uint8 with int8
				want = tensor.Int16
			}
			assert.Equal(t, want, common(a, b), "%v and %v", a, b)
		}
	}
	for _, x := range []struct{ a, b, want tensor.DType }{
		{tensor.Uint16, tensor.Uint32, tensor.Uint32}, {tensor.Uint64, tensor.Bool, tensor.Uint64},
		{tensor.Uint64, tensor.Float16, tensor.Float16},
		{tensor.Uint16, tensor.Int8, tensor.Int32}, {tensor.Uint16, tensor.Int32, tensor.Int32},
		{tensor.Uint32, tensor.Int32, tensor.Int64},
		{tensor.Uint64, tensor.Int8, tensor.Invalid}, {tensor.Uint64, tensor.Int64, tensor.Invalid},
	} {
		assert.Equal(t, x.want, common(x.a, x.b), "%v and %v", x.a, x.b)
		assert.Equal(t, x.want, common(x.b, x.a), "%v and %v", x.b, x.a)
	}
}
