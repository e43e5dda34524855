package ops

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/tensor"
)

// qdqSum is a sum of products between codes with everything resolved.
type qdqSum struct {
	at         int // node of the graph
	x          ir.QuantParams
	f          *filter
	win        kernel.Window
	batch      int
	channels   int // of the images
	taps       int
	cells      int  // of a kernel that each input is multiplied with, in a transposed convolution; its outputs are n
	ic, n      int  // inputs per output, outputs
	transposed bool // the filter's codes are [inputs, outputs]
	codes      []byte
	unit, bias []float64 // per output: what one means of a sum of products of codes, and what is added
	epi        *qdqEpilogue
	// raw says that products take the filter's quantized values as they are, and that the share of their zero points is
	// subtracted by the sum of each position's quantized values.
	raw bool
	// real says that sums become numbers of float32 before they become codes (qdq_real.go).
	real bool

	// How sums become codes: in the store of the kernel, or after it, exactly, unless exact is nil.
	post  kernel.Requantize
	whole []int32 // what the bias adds to sums where it is a multiple of their unit, nil: nothing
	exact *requantized
}

// resolve gives c the units of its sums, given the filter and the axis of its codes that counts outputs; ok is false
// when the filter has not as many scales.
func (c *qdqSum) resolve(g *ir.Network, axis int) (ok bool) {
	if len(c.f.scale) > 1 && (c.f.axis != axis || len(c.f.scale) != c.n) {
		return false
	}
	c.measure(g)
	return true
}

// measure gives c the units of its sums.
func (c *qdqSum) measure(g *ir.Network) {
	c.codes = g.Values[c.f.codes].Data
	c.unit, c.bias = make([]float64, c.n), make([]float64, c.n)
	for j := range c.unit {
		c.unit[j] = float64(c.x.Scale) * float64(c.f.scale[j%len(c.f.scale)])
	}
}

// add adds values to the bias, nil standing for zeros.
func (c *qdqSum) add(v []float32) {
	for j, x := range v {
		c.bias[j] += float64(x)
	}
}

// requantize finds how sums become quantized values, apart from their start; ok is false when it is out of reach of
// float32.
func (c *qdqSum) requantize() (ok bool) {
	e := c.epi
	if e.params.Rounding == ir.HalfAway {
		c.exact = newRequantized(e.params, c.unit, c.bias)
		return true
	}
	c.add(e.add)
	q := kernel.Requantize{Zero: int(e.params.Zero), Lo: e.lo, Hi: e.hi, Scale: make([]float32, c.n)}
	whole := make([]int32, c.n)
	reach := 255 * 128 * float64(c.taps*c.ic)
	if c.raw {
		reach *= 3
	}
	if reach >= 1<<30 {
		return false
	}
	for j := range c.n {
		m := c.unit[j] / float64(e.params.Scale)
		q.Scale[j] = float32(m)
		far := c.bias[j] / c.unit[j]
		if r := math.Round(far); math.Abs(far-r) <= math.Abs(far)/(1<<22) && math.Abs(r) < 1<<30 {
			whole[j] = int32(r)
		} else {
			if q.Add == nil {
				q.Add = make([]float32, c.n)
			}
			q.Add[j] = float32(c.bias[j] / float64(e.params.Scale))
		}
		if !(math.Abs(far)+reach < (1<<31)/max(1, m)) || m < 1e-30 {
			return false
		}
	}
	c.post, c.whole = q, whole
	return true
}

// row returns the codes of output j minus their zero point, [taps, inputs].
func (c *qdqSum) row(dst []int8, j int) {
	zero, depth := byte(c.f.zeroAt(j)), c.taps*c.ic
	if c.raw {
		zero = byte(c.f.middle())
	}
	switch {
	case c.transposed:
		for k := range depth {
			dst[k] = int8(c.codes[k*c.n+j] - zero)
		}
	case c.f.order == outputsInside: // outputs are [taps, outputs] here, of one input each
		outputs, taps := c.n/c.cells, c.cells
		for k := range depth {
			dst[k] = int8(c.codes[(k*outputs+j%outputs)*taps+j/outputs] - zero)
		}
	case c.f.order == tapsLast:
		src := c.codes[j*depth:][:depth]
		for t := range c.taps {
			for i := range c.ic {
				dst[t*c.ic+i] = int8(src[i*c.taps+t] - zero)
			}
		}
	default:
		for k, v := range c.codes[j*depth:][:depth] {
			dst[k] = int8(v - zero)
		}
	}
}

// pack packs the filters as taps runs of k inputs and computes what sums start with: the bias less the share of the
// zero point.
func (c *qdqSum) pack(w *ir.Lowering, taps, k int) (codes []int8, init []int32) {
	size := (kernel.PackedInt8Len(taps, k, c.n) + 3) / 4
	p := ir.Packed{Value: c.f.codes, Kind: "codes", Beside: c.beside(taps, k), Len: size + c.n,
		Parts: kernel.IntPanels(c.n)}
	p.Fill = func(dst []float32, part int) {
		codes, init := bytesAsInt8(dst[:size]), intsOf(dst[size:])
		from, to := part*kernel.IntCols, min(c.n, (part+1)*kernel.IntCols)
		rows := make([]int8, (to-from)*taps*k)
		for j := from; j < to; j++ {
			r := rows[(j-from)*taps*k:][:taps*k]
			c.row(r, j)
			sum := int32(0)
			for _, v := range r {
				sum += int32(v)
			}
			if init[j] = -c.x.Zero * sum; c.whole != nil {
				init[j] += c.whole[j]
			}
		}
		kernel.PackInt8(codes[part*kernel.IntCols*(kernel.PackedInt8Len(taps, k, 16)/16):], rows, taps, k, to-from, taps*k)
	}
	dst := w.Packer.Order(c.at, p)
	return bytesAsInt8(dst[:size]), intsOf(dst[size:])
}

// packProducts is pack for several products of as many outputs each, of taps runs of k inputs. row writes the codes of
// an output over zeros.
func (c *qdqSum) packProducts(w *ir.Lowering, kind string, products, taps, k int, row func(dst []int8, j int),
) (codes []int8, init []int32) {
	outputs := c.n / products
	per := kernel.PackedInt8Len(taps, k, outputs)
	size := (products*per + 3) / 4
	p := ir.Packed{Value: c.f.codes, Kind: kind, Beside: c.beside(taps, k), Len: size + c.n, Parts: products}
	p.Fill = func(dst []float32, part int) {
		rows, init := make([]int8, outputs*taps*k), intsOf(dst[size:])
		for j := range outputs {
			own, sum, at := rows[j*taps*k:][:taps*k], int32(0), part*outputs+j
			row(own, at)
			for _, v := range own {
				sum += int32(v)
			}
			init[at] = c.whole[at] - c.x.Zero*sum
		}
		kernel.PackInt8(bytesAsInt8(dst[:size])[part*per:][:per], rows, taps, k, outputs, taps*k)
	}
	dst := w.Packer.Order(c.at, p)
	return bytesAsInt8(dst[:size]), intsOf(dst[size:])
}

// product is product i of packProducts, m rows of k inputs in images of all channels.
func (c *qdqSum) product(i, m, taps, k, outputs int, codes []int8, init []int32) kernel.GemmInt8 {
	from, per := i*outputs, kernel.PackedInt8Len(taps, k, outputs)
	post := c.post
	post.Init, post.Scale = init[from:], post.Scale[from:]
	if post.Add != nil {
		post.Add = post.Add[from:]
	}
	return kernel.GemmInt8{M: m, N: outputs, K: k, LDA: c.channels, Post: post, B: codes[i*per:][:per]}
}

// beside distinguishes the forms of one filter: how it is divided, and what sums start with.
func (c *qdqSum) beside(taps, k int) tensor.Hash {
	b := binary.LittleEndian.AppendUint64(nil, uint64(taps))
	b = binary.LittleEndian.AppendUint64(b, uint64(k))
	b = binary.LittleEndian.AppendUint32(b, uint32(c.x.Zero))
	var start []byte
	for _, v := range c.whole {
		start = binary.LittleEndian.AppendUint32(start, uint32(v))
	}
	var zero []byte
	for _, v := range c.f.zero {
		zero = binary.LittleEndian.AppendUint64(zero, uint64(v))
	}
	return run.NumbersOf(b, start, zero)
}

func bytesAsInt8(v []float32) []int8 {
	return unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(v))), 4*len(v))
}

func intsOf(v []float32) []int32 {
	return unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(v))), len(v))
}

// factors multiply the sum of the quantized values at each position, less the zero point of x.
func (c *qdqSum) factors() []int32 {
	if !c.raw {
		return nil
	}
	out := make([]int32, c.n)
	for j := range out {
		out[j] = kernel.FactorPair(int(c.f.middle() - c.f.zeroAt(j)))
	}
	return out
}

// patch replaces node i by a sum, and with it the nodes that dequantize the filter.
func (c *qdqSum) patch(p *ir.Program, i int, op ir.Operation) *ir.Patch {
	n := &p.Net.Graph.Nodes[i]
	if c.exact != nil {
		found := ir.One(i, op, n.In[:1], n.Out)
		found.Nodes[0].Codes = true
		return found
	}
	found := c.epi.patch(p, i, op, n.In[0])
	found.Unread = append(found.Unread, c.held(p)...)
	return found
}

// held are the nodes that make the filter for c alone.
func (c *qdqSum) held(p *ir.Program) (list []int) {
	for _, k := range c.f.nodes {
		if p.Net.Held[k] {
			list = append(list, k)
		}
	}
	return list
}
