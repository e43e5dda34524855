package devicetest

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/devicetest/toy"
	"github.com/anynpu/anynpu/core/matrix"
)

// multiplying is a toy that multiplies matrices of Int8, with a mistake or none.
type multiplying struct {
	*toy.Device
	deaf   bool                  // to the context
	change func(*matrix.Product) // what it takes for the product, nil: the product
}

func (d *multiplying) Multiplier(device.Priority) device.Multiplier { return d }

func (d *multiplying) Release() {}

func (d *multiplying) Multiply(ctx context.Context, p *matrix.Product) error {
	if err := ctx.Err(); err != nil && !d.deaf {
		return err
	}
	own := *p
	if d.change != nil {
		d.change(&own)
	}
	for m := range own.A.Rows {
		for n := range own.B.Rows {
			sum := int32(0)
			for k := range own.A.Columns {
				a, b := int8(own.A.Data[own.A.Index(m, k)]), int8(own.B.Data[own.B.Index(n, k)])
				sum += (int32(a) - own.ZeroA) * (int32(b) - own.ZeroAt(k, n))
			}
			binary.NativeEndian.PutUint32(own.C.Data[4*own.C.Index(m, n):], uint32(sum))
		}
	}
	return nil
}

func TestMatrices_findsMistakes(t *testing.T) {
	d := toy.New("multiplying")
	check := func(m *multiplying) error {
		m.Device = d
		s := subject(d)
		s.Device = m
		return matrices(&s)
	}
	assert.NoError(t, check(&multiplying{}))
	for name, m := range map[string]*multiplying{
		"no zero point of A":   {change: func(p *matrix.Product) { p.ZeroA = 0 }},
		"one zero point for B": {change: func(p *matrix.Product) { p.ZeroB = p.ZeroB[:1] }},
		"tiles are ignored":    {change: func(p *matrix.Product) { p.B.Tiling = p.A.Tiling }},
		"C transposed":         {change: func(p *matrix.Product) { p.C.Inner = 1 }},
		"contexts are ignored": {deaf: true},
	} {
		err := check(m)
		assert.Error(t, err, name)
		assert.False(t, Skipped(err), name)
	}
	s := subject(d)
	assert.True(t, Skipped(matrices(&s)), "a toy multiplies nothing")
}
