package kernel

import (
	"math"

	"github.com/anynpu/anynpu/core/mem"
)

// BlockDots are products of rows of numbers with rows of codes of 4 or 8 bits, of which each block has a scale: code c
// is (c - 2^(bits-1)) * scale. Each block of numbers is rounded to whole multiples of one number, which have some
// digits of 8 bits: with 2 of them to 2^-15 of the block's largest one, with 3 to 2^-23, as float32 itself. Products
// are exact then, and added up in float32 block by block. A sum of 8-bit codes has blocks of at most 128.
type BlockDots struct {
	Bits, Block, Blocks int // Block: codes of a block, a multiple of 32
	Digits              int // 2 or 3
}

// blockPanel is how many rows of codes are packed side by side.
const blockPanel = 16

// Fast reports whether there are kernels.
func (d *BlockDots) Fast() bool {
	return fast.blockDots[0][0][0] != nil && d.Block%codeStep == 0 && (d.Bits == 4 && d.Block <= 256 ||
		d.Bits == 8 && d.Block <= 128)
}

// PanelLen is the bytes of a panel: for each block 16 scales, and then the codes of four depths after the other, those
// of 4 bits in halves of bytes.
func (d *BlockDots) PanelLen() int { return d.Blocks * blockPanel * (4 + d.Block*d.Bits/8) }

// Panels is the number of panels of so many rows of codes.
func (d *BlockDots) Panels(rows int) int { return ceilDiv(rows, blockPanel) }

// Pack writes row r of the codes, bytes below 2^Bits, into its panel of dst, which is all zeros at first.
func (d *BlockDots) Pack(dst []byte, r int, scales []float32, codes []byte) {
	need("BlockDots.Pack", "scales", len(scales), d.Blocks)
	need("BlockDots.Pack", "codes", len(codes), d.Block*d.Blocks)
	panel, column := dst[r/blockPanel*d.PanelLen():][:d.PanelLen()], r%blockPanel
	for b, scale := range scales[:d.Blocks] {
		mem.Elements[float32](panel[:4*blockPanel])[column] = scale
		panel = panel[4*blockPanel:]
		for k, c := range codes[b*d.Block:][:d.Block] {
			group := k / 4
			if d.Bits == 8 {
				panel[(group*blockPanel+column)*4+k%4] = c
			} else {
				panel[(group/2*blockPanel+column)*4+k%4] |= c << (group % 2 * 4)
			}
		}
		panel = panel[blockPanel*d.Block*d.Bits/8:]
	}
}

// RowLen is the bytes of a row of numbers in digits.
func (d *BlockDots) RowLen() int { return d.Blocks * (4 + 4*d.Digits + d.Digits*d.Block) }

// Prepare writes the digits of a row of numbers; ok is false when there are none because a number is not finite.
func (d *BlockDots) Prepare(dst []byte, x []float32) (ok bool) {
	need("BlockDots.Prepare", "dst", len(dst), d.RowLen())
	need("BlockDots.Prepare", "x", len(x), d.Block*d.Blocks)
	most := float32(int32(127) << (8 * (d.Digits - 1)))
	for b := range d.Blocks {
		block := x[b*d.Block:][:d.Block]
		largest := max(MaxOf(block), -MinOf(block))
		if largest-largest != 0 {
			return false
		}
		unit, back := largest/most, float32(0)
		if back = 1 / unit; unit < 0x1p-120 { // nothing, or too little for a reciprocal
			unit, back = 0, 0
		}
		head, digits := dst[:4+4*d.Digits], dst[4+4*d.Digits:][:d.Digits*d.Block]
		dst = dst[len(head)+len(digits):]
		mem.Elements[float32](head[:4])[0] = unit
		sums := mem.Elements[int32](head[4:])
		if d.Digits == 2 {
			d.twoDigits(digits, sums, block, back)
		} else {
			d.threeDigits(digits, sums, block, back)
		}
	}
	return true
}

// toNearest rounds a number of less than 31 bits, ties to even.
func toNearest(v float32) int32 {
	const magic = 3 << 51
	return int32(uint32(math.Float64bits(float64(v) + magic)))
}

func (d *BlockDots) twoDigits(digits []byte, sums []int32, x []float32, back float32) {
	high, low := int32(0), int32(0)
	for k, v := range x {
		n := toNearest(v * back)
		h := (n + 128) >> 8
		l := n - h<<8
		at := k/codeStep*2*codeStep + k%codeStep
		digits[at], digits[at+codeStep] = byte(h), byte(l)
		high, low = high+h, low+l
	}
	middle := int32(1) << (d.Bits - 1)
	sums[0], sums[1] = -middle*high, -middle*low
}

func (d *BlockDots) threeDigits(digits []byte, sums []int32, x []float32, back float32) {
	high, middling, low := int32(0), int32(0), int32(0)
	for k, v := range x {
		n := toNearest(v * back)
		h := (n + 1<<15) >> 16
		n -= h << 16
		m := (n + 128) >> 8
		l := n - m<<8
		if m > 127 { // of the largest remainders
			m, h = m-256, h+1
		}
		at := k/codeStep*3*codeStep + k%codeStep
		digits[at], digits[at+codeStep], digits[at+2*codeStep] = byte(h), byte(m), byte(l)
		high, middling, low = high+h, middling+m, low+l
	}
	middle := int32(1) << (d.Bits - 1)
	sums[0], sums[1], sums[2] = -middle*high, -middle*middling, -middle*low
}

// Multiply makes y[r, c] the product of row r of a, which Prepare has made, and row first+c of the codes, of which a
// panel has at most 16: first is a multiple of 16, and y has cols columns, ldy apart.
func (d *BlockDots) Multiply(y []float32, ldy, cols int, a []byte, rows int, w []byte, first int) {
	need("BlockDots.Multiply", "y", len(y), extent(rows, cols, ldy))
	need("BlockDots.Multiply", "a", len(a), rows*d.RowLen())
	need("BlockDots.Multiply", "w", len(w), (d.Panels(first+cols))*d.PanelLen())
	byRows := &fast.blockDots[d.Bits/8][d.Digits-2]
	for c := 0; c < cols; c += blockPanel {
		panel, n := &w[(first+c)/blockPanel*d.PanelLen()], min(blockPanel, cols-c)
		for r := 0; r < rows; {
			k := 0
			if rows-r >= 4 {
				k = 1
			}
			byRows[k](&y[r*ldy+c], 4*ldy, &a[r*d.RowLen()], d.RowLen(), panel, d.Blocks, d.Block/codeStep, n)
			r += 1 + 3*k
		}
	}
}

// MultiplyFloats is Multiply of one row of numbers as they are, one by one. Each weight of block b of row r of the
// codes is less by moves[r*Blocks+b], if there are moves.
func (d *BlockDots) MultiplyFloats(y, x []float32, w []byte, first int, moves []float32) {
	for c := range y {
		panel, column := w[(first+c)/blockPanel*d.PanelLen():][:d.PanelLen()], (first+c)%blockPanel
		sum := 0.0
		for b := range d.Blocks {
			scale := mem.Elements[float32](panel[:4*blockPanel])[column]
			panel = panel[4*blockPanel:]
			move := float32(0)
			if moves != nil {
				move = moves[(first+c)*d.Blocks+b]
			}
			for k, v := range x[b*d.Block:][:d.Block] {
				group, code := k/4, 0
				if d.Bits == 8 {
					code = int(panel[(group*blockPanel+column)*4+k%4])
				} else {
					code = int(panel[(group/2*blockPanel+column)*4+k%4] >> (group % 2 * 4) & 15)
				}
				sum += float64(v) * float64(scale*float32(code-1<<(d.Bits-1))-move)
			}
			panel = panel[blockPanel*d.Block*d.Bits/8:]
		}
		y[c] = float32(sum)
	}
}
