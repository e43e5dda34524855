package kernel

import "github.com/anynpu/anynpu/core/mem"

// codeStep is how many codes a step of the products of BlockRows takes: blocks are multiples of it.
const codeStep = 32

// BlockRows are rows of codes of 4 or 8 bits. Each block of a row has a scale: code c is (c - 2^(bits-1)) * scale. A
// row is the scales of its blocks and then its codes; see [BlockRows.Pack].
type BlockRows struct {
	Bits, Block, Blocks int // Block: codes of a block, a multiple of 32
	Data                []byte
}

// RowLen is the bytes of a row.
func (c *BlockRows) RowLen() int { return 4*c.Blocks + c.Block*c.Blocks*c.Bits/8 }

// Pack writes row r: codes are bytes, each below 2^Bits.
func (c *BlockRows) Pack(r int, scales []float32, codes []byte) {
	need("BlockRows.Pack", "scales", len(scales), c.Blocks)
	need("BlockRows.Pack", "codes", len(codes), c.Block*c.Blocks)
	row := c.Data[r*c.RowLen():][:c.RowLen()]
	copy(mem.Elements[float32](row[:4*c.Blocks]), scales)
	to := row[4*c.Blocks:]
	if c.Bits == 8 {
		copy(to, codes[:c.Block*c.Blocks])
		return
	}
	for at := 0; at < c.Block*c.Blocks; at += codeStep {
		for i := range codeStep / 2 {
			to[at/2+i] = codes[at+i] | codes[at+codeStep/2+i]<<4
		}
	}
}

// Multiply makes dst[k] the product of x and row first+k. Numbers of a block are added up in float32 before they are
// scaled, then the blocks.
func (c *BlockRows) Multiply(dst, x []float32, first int) {
	if len(dst) == 0 {
		return
	}
	need("BlockRows.Multiply", "x", len(x), c.Block*c.Blocks)
	need("BlockRows.Multiply", "rows", len(c.Data), (first+len(dst))*c.RowLen())
	f := fast.codeBlocks4
	if c.Bits == 8 {
		f = fast.codeBlocks8
	}
	if f == nil {
		c.multiply(dst, x, first)
		return
	}
	f(&dst[0], &x[0], &c.Data[first*c.RowLen()], c.RowLen(), c.Block/codeStep, c.Blocks, len(dst))
}

// multiply is Multiply in Go.
func (c *BlockRows) multiply(dst, x []float32, first int) {
	middle := 1 << (c.Bits - 1)
	for k := range dst {
		row := c.Data[(first+k)*c.RowLen():][:c.RowLen()]
		scales, codes := mem.Elements[float32](row[:4*c.Blocks]), row[4*c.Blocks:]
		sum := 0.0
		for b, scale := range scales {
			part := 0.0
			for i := range c.Block {
				at := b*c.Block + i
				code := 0
				if c.Bits == 8 {
					code = int(codes[at])
				} else {
					code = int(codes[at/codeStep*codeStep/2+at%(codeStep/2)] >> (at % codeStep / (codeStep / 2) * 4) & 15)
				}
				part += float64(x[at]) * float64(code-middle)
			}
			sum += part * float64(scale)
		}
		dst[k] = float32(sum)
	}
}
