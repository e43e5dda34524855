package convert

import "github.com/anynpu/anynpu/core/tensor"

// conversion turns lines of elements of one type into another.
type conversion struct {
	from, to   tensor.DType
	codesFrom  *Codes // what the integers mean, nil: numbers are not taken from codes
	codesTo    *Codes
	normalize  bool
	mean, std  float32
	work       []float32
	table      []byte // what each of 256 bytes becomes, nil: not looked up
	everything [256]byte
}

func newConversion(from, to tensor.DType) *conversion {
	return &conversion{from: from, to: to, work: make([]float32, Work)}
}

// exact reports whether integers are converted exactly, without a meaning.
func (c *conversion) exact() bool {
	return !c.from.IsFloat() && !c.to.IsFloat() && c.codesFrom == nil && c.codesTo == nil && !c.normalize
}

// line converts n elements, at most Line.
func (c *conversion) line(dst, src []byte, n int) {
	if c.exact() {
		Cast(dst, c.to, src, c.from, n, true, c.work)
		return
	}
	if c.from == c.to && c.codesFrom == nil && c.codesTo == nil && !c.normalize {
		copy(dst[:n*c.to.Bits()/8], src)
		return
	}
	v := c.work[:n]
	if c.codesFrom != nil {
		Dequantize(v, c.from, src, c.codesFrom, 0)
	} else {
		Floats(v, c.from, src)
	}
	if c.normalize {
		for i := range v {
			v[i] = (v[i] - c.mean) / c.std
		}
	}
	if c.codesTo != nil {
		Quantize(dst, c.to, v, c.codesTo, 0)
	} else {
		Put(dst, c.to, v, true)
	}
}

// straight reports whether kernels convert bytes that lie together faster than a table does.
func (c *conversion) straight(apart, step int) bool {
	return apart == 1 && step == 1 && c.from.Bits() == 8 && c.to == tensor.Float32 && c.codesTo == nil && !c.normalize
}

// tabulate looks bytes up from now on.
func (c *conversion) tabulate() {
	for i := range c.everything {
		c.everything[i] = byte(i)
	}
	if size := 256 * c.to.Bits() / 8; len(c.table) < size {
		c.table = make([]byte, size)
	}
	c.line(c.table, c.everything[:], 256)
}

// run converts n elements of src, step elements apart, to elements of dst that are apart elements apart. line holds a
// line of the source and one of the result.
func (c *conversion) run(dst []byte, apart int, src []byte, step, n int, line []byte) {
	if c.table != nil {
		lookUp(dst, apart, c.to.Bits()/8, c.table, src, step, n)
		return
	}
	if step > 1 {
		gather(line, src, step, n, c.from.Bits()/8)
		src = line
	}
	if apart == 1 {
		c.line(dst, src, n)
		return
	}
	made := line[Line*8:]
	c.line(made, src, n)
	scatter(dst, made, apart, n, c.to.Bits()/8)
}
