package devicecheck

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op/opcase"
	"github.com/anynpu/anynpu/core/tensor"
)

// halfRow is a row of the table: what was measured of an operator, or of a network, in a type at a level.
type halfRow struct {
	name     string
	d        tensor.DType
	elements int
	within   int     // one unit
	most     float64 // units
	bare     float64 // the largest in units of the last place of what is expected, whatever was added up
	where    string
}

// share is 1 where only integers were compared.
func (r *halfRow) share() float64 {
	if r.elements == 0 {
		return 1
	}
	return float64(r.within) / float64(r.elements)
}

func (r *halfRow) String() string {
	return fmt.Sprintf("%-26s %-8v %9d %9.4f%% %7.3f %7.0f  %s", r.name, r.d, r.elements, 100*r.share(), r.most, r.bare,
		r.where)
}

const (
	halfShare = 0.999 // of elements that are at most one unit apart
	halfMost  = 2.0   // units
)

// withoutHalves are the operators that take and yield no halves, in any form that core has.
var withoutHalves = []string{"and", "bit_shift", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor",
	"decode_image", "dynamic_quantize", "not", "or", "quantized_16bit_lstm", "quantized_lstm", "reduce_all", "reduce_any",
	"resize_image", "xor"}

// TestHalves holds every operator, and networks whose nodes plans join, to the last digits of float16 and bfloat16: of
// the elements of an operator 99.9 % are at most one unit of the last place apart from what is expected, and none more
// than two. Expected is the result of the reference in float64 for the same halves, rounded once; integers are equal.
// Operands are spread as networks have them (spread), functions of one number get every half that there is.
//
// Plans compute in float32. Where the terms of a sum cancel, the unit is that of float32 of what was added up, if it is
// more than the unit of the result: see magnitudes, which names each operator that is granted that, and looseness.
//
// With ANYNPU_HALVES=long it has more and larger cases, at every level of kernels, and takes some minutes. With -v it
// prints the table: type, elements, share within one unit, largest difference in units, the same in units of the result
// alone, and where it is.
func TestHalves(t *testing.T) {
	long := os.Getenv("ANYNPU_HALVES") == "long"
	levels := kernel.Supported()
	if !long {
		levels = levels[len(levels)-1:]
	}
	d := newCPU(t, cpu.Config{})
	tables := make([]map[string]*halfRow, len(levels))
	for i := range levels {
		tables[i] = map[string]*halfRow{}
	}
	for _, c := range halfCases(long) {
		for _, typ := range []tensor.DType{tensor.Float16, tensor.BFloat16} {
			m, ok, err := c.measure(typ)
			require.NoError(t, err, "%s %v %s", c.name, typ, c.form)
			if !ok {
				continue
			}
			key := c.name + " " + typ.String()
			for i, isa := range levels {
				if tables[i][key] == nil {
					tables[i][key] = &halfRow{name: c.name, d: typ}
				}
				restore, err := kernel.Select(isa)
				require.NoError(t, err)
				got, err := m.on(d)
				restore()
				if assert.NoError(t, err, "%v: %s %v %s", isa, c.name, typ, c.form) {
					assert.Empty(t, m.judge(got, tables[i][key], c.form), "%v: %s %v %s", isa, c.name, typ, c.form)
				}
			}
		}
	}
	for i, isa := range levels {
		t.Logf("%v:\n%s", isa, judged(t, isa, tables[i]))
	}
	for _, name := range graph.OpNames() {
		if _, excused := opcase.Without[name]; excused {
			continue
		}
		_, halves := tables[0][name+" "+tensor.Float16.String()]
		_, brains := tables[0][name+" "+tensor.BFloat16.String()]
		none := slices.Contains(withoutHalves, name)
		assert.True(t, halves == !none && brains == !none, "%s: listed as without halves: %v, measured: %v, %v", name, none,
			halves, brains)
	}
}

// judged is a table as text, the worst rows first.
func judged(t *testing.T, isa kernel.ISA, rows map[string]*halfRow) string {
	list := slices.SortedFunc(maps.Values(rows), func(a, b *halfRow) int {
		return cmp.Or(cmp.Compare(b.most, a.most), cmp.Compare(a.share(), b.share()), cmp.Compare(a.name, b.name),
			cmp.Compare(a.d, b.d))
	})
	var text strings.Builder
	for _, r := range list {
		fmt.Fprintln(&text, r)
		assert.True(t, r.share() >= halfShare && r.most <= halfMost, "%v: %v", isa, r)
	}
	return text.String()
}

// halfMeasure is a graph of halves with what is expected of it.
type halfMeasure struct {
	Check
	d    tensor.DType
	want []tensor.Tensor // in a wider type where the graph's is d
	// loose is, per output, how much sums of float32 leave open, beside the unit of a half; nil: nothing.
	loose [][]float64
}

func (m *halfMeasure) on(d device.Device) ([]tensor.Tensor, error) {
	e, err := m.execution(context.Background(), d)
	if err != nil {
		return nil, err
	}
	defer e.Release()
	request := device.RunRequest{Deadline: time.Now().Add(10 * time.Second)}
	if err := exec.Run(context.Background(), e, request); err != nil {
		return nil, err
	}
	got, err := outputs(e, len(m.want))
	for i := range got {
		got[i].Data = slices.Clone(got[i].Data)
	}
	return got, err
}

// measure makes the graph and its expectation; ok: the operator takes the type.
func (c *halfCase) measure(d tensor.DType) (m halfMeasure, ok bool, err error) {
	g, in, ok := c.make(d)
	if !ok {
		return m, false, nil
	}
	m = halfMeasure{Check: Check{Graph: g, In: in}, d: d}
	ctx := context.Background()
	if !ownExpectation(g) {
		for _, to := range []tensor.DType{tensor.Float64, tensor.Float32} {
			w, err := wider(g, d, to, nil)
			if err != nil {
				continue
			}
			wide := slices.Clone(in)
			for i, x := range in {
				if x.DType == d {
					wide[i].DType, wide[i].Data = to, widened(d, d, to, x.Count(), x.Data)
				}
			}
			if m.want, err = ref.Run(ctx, w, wide); err == nil {
				m.loose, err = looseness(g, d, to, wide, m.want)
				return m, true, err
			}
		}
	}
	m.want, err = ref.Run(ctx, g, in)
	if err != nil {
		return m, false, nil
	}
	return m, true, nil
}

// judge adds what a run gave to a row; the text says what cannot be counted.
func (m *halfMeasure) judge(got []tensor.Tensor, r *halfRow, form string) string {
	for i, want := range m.want {
		g := got[i]
		if !slices.Equal(g.Dims, want.Dims) {
			return fmt.Sprintf("output %d: %v, want %v", i, g.Dims, want.Dims)
		}
		if g.DType != m.d {
			if !slices.Equal(g.Data, want.Data) && differs(g, want, false, new(float64)) != "" {
				return fmt.Sprintf("output %d: %s", i, differs(g, want, false, new(float64)))
			}
			continue
		}
		for k := range want.Count() {
			w := tensor.FloatAt(want.DType, want.Data, k)
			v := tensor.FloatAt(g.DType, g.Data, k)
			loose := 0.0
			if m.loose != nil && m.loose[i] != nil {
				loose = m.loose[i][k]
			}
			u := halfUnits(m.d, v, w, loose)
			r.elements++
			r.bare = max(r.bare, halfUnits(m.d, v, w, 0))
			if u <= 1 {
				r.within++
			}
			if u > r.most {
				r.most = u
				r.where = fmt.Sprintf("%s: output %d, element %d: %g, want %g", form, i, k, v, w)
			}
		}
	}
	return ""
}

// halfUnits is how many units a result is from a number rounded to type d: units of the last place of d, or of loose
// where that is more.
func halfUnits(d tensor.DType, got, want, loose float64) float64 {
	var b [2]byte
	tensor.PutFloat(d, b[:], 0, want, false)
	w := tensor.FloatAt(d, b[:], 0)
	if got == w || math.IsNaN(got) && math.IsNaN(w) {
		return 0
	}
	if math.IsNaN(got) || math.IsNaN(w) {
		return math.Inf(1)
	}
	bits, least, most := 11, -14, 16
	if d == tensor.BFloat16 {
		bits, least, most = 8, -126, 128
	}
	finite := func(x float64) float64 {
		if math.IsInf(x, 0) {
			return math.Copysign(math.Ldexp(1, most), x)
		}
		return x
	}
	got, w = finite(got), finite(w)
	_, e := math.Frexp(w)
	return math.Abs(got-w) / max(loose, math.Ldexp(1, max(min(e, most)-1, least)-bits+1))
}
