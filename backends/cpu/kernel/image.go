package kernel

import "fmt"

// Bytes are planes of bytes of several images: component c of row y and column
// x of image n is at
//
//	Data[n*Image + y*Row + x*Col + c*Comp]
type Bytes struct {
	Data                  []byte
	H, W, Comps           int
	Image, Row, Col, Comp int
}

// extent is the length that Data must have for n images.
func (b *Bytes) extent(n int) int {
	if n == 0 || b.H == 0 || b.W == 0 || b.Comps == 0 {
		return 0
	}
	return (n-1)*b.Image + (b.H-1)*b.Row + (b.W-1)*b.Col + (b.Comps-1)*b.Comp + 1
}

// from returns the bytes from row y of image n on.
func (b *Bytes) from(n, y int) []byte { return b.Data[n*b.Image+y*b.Row:] }

// decodeTile is how many pixels of a row are decoded at a time; it is even.
const decodeTile = 512

// decodeWork is memory of one thread.
type decodeWork struct {
	bytes  [3][decodeTile]byte
	floats [3][decodeTile]float32
}

// Decode makes channels of the components of pixels: channel c is
//
//	w[0]*x[0] + ((w[1]*x[1] + w[2]*x[2]) + Offset[c])
//
// with w of channel c and x the bytes of the components minus Base, in float32,
// each product and sum rounded. With one component the others count as 0. In a
// second plane, of pairs for 2 x 2 pixels, components 1 and 2 lie; the last row
// and column of an odd size have those of the one before.
type Decode struct {
	Batch                int
	Planes               []Bytes // one, or luma and pairs
	Components, Channels int     // each 1 or 3
	Base                 [3]int32
	Weight               [3][3]float32 // by channel and component
	Offset               [3]float32
	Last                 bool // channels lie side by side, otherwise in planes
	Y                    []float32

	work   []decodeWork
	coef   [15]float32
	table  [3][256]float32 // of channels that one component decides
	single [3]int          // that component; -1: several do
	split  rowChunks
}

// Plan checks the operands and returns the number of chunks for the given number
// of threads.
func (d *Decode) Plan(threads int) int {
	d.check()
	if len(d.work) < max(1, threads) {
		d.work = make([]decodeWork, max(1, threads))
	}
	d.fold()
	p := &d.Planes[0]
	d.split = divideRows(d.Batch*p.H, 16*p.W, threads)
	return d.split.chunks
}

// DecodeWork is the number of bytes that Plan takes per thread.
const DecodeWork = 3 * decodeTile * 5

func (d *Decode) fold() {
	for k, b := range d.Base {
		d.coef[k] = float32(b)
	}
	for c := range d.Channels {
		w := d.Weight[c]
		copy(d.coef[3+4*c:], []float32{w[0], w[1], w[2], d.Offset[c]})
		d.single[c] = -1
		for k := range d.Components {
			if w[(k+1)%3] != 0 && d.Components == 3 || w[(k+2)%3] != 0 && d.Components == 3 {
				continue
			}
			d.single[c] = k
			for x := range d.table[c] {
				d.table[c][x] = float32(w[k]*float32(int32(x)-d.Base[k])) + d.Offset[c]
			}
		}
	}
}

// Chunk computes chunk i of the division that Plan made, on thread worker.
func (d *Decode) Chunk(i, worker int) {
	work := &d.work[worker]
	for row, end := d.split.bounds(i); row < end; row++ {
		h := d.Planes[0].H
		for x := 0; x < d.Planes[0].W; x += decodeTile {
			d.tile(work, row/h, row%h, x)
		}
	}
}

// Run decodes everything on the calling goroutine.
func (d *Decode) Run() {
	for i := range d.Plan(1) {
		d.Chunk(i, 0)
	}
}

// tile decodes the pixels of row y of image n from column x on.
func (d *Decode) tile(work *decodeWork, n, y, x int) {
	p := &d.Planes[0]
	k := min(decodeTile, p.W-x)
	var in [3][]byte
	if len(d.Planes) == 2 {
		in[0] = p.from(n, y)[x:]
		if d.Components == 3 {
			d.spread(work, n, y, x, k)
			in[1], in[2] = work.bytes[1][:], work.bytes[2][:]
		}
	} else {
		row := p.from(n, y)[x*p.Col:]
		for c := range d.Components {
			if in[c] = row[c*p.Comp:]; p.Col != 1 {
				for i := range k {
					work.bytes[c][i] = in[c][i*p.Col]
				}
				in[c] = work.bytes[c][:]
			}
		}
	}
	var out [3][]float32
	for c := range d.Channels {
		if out[c] = work.floats[c][:k]; !d.Last || d.Channels == 1 {
			out[c] = d.Y[((n*d.Channels+c)*p.H+y)*p.W+x:][:k]
		}
	}
	if d.Channels == 3 && (d.single[0] < 0 || d.single[1] < 0 || d.single[2] < 0) {
		inVectors(k, func(i, m int) {
			fast.affine3(&out[0][i], &out[1][i], &out[2][i], &in[0][i], &in[1][i], &in[2][i], m, &d.coef[0])
		}, func(i, m int) {
			affine3Generic(&out[0][i], &out[1][i], &out[2][i], &in[0][i], &in[1][i], &in[2][i], m, &d.coef[0])
		})
	} else {
		for c := range d.Channels {
			table := &d.table[c]
			for i, b := range in[d.single[c]][:k] {
				out[c][i] = table[b]
			}
		}
	}
	if d.Last && d.Channels == 3 {
		Interleave3(d.Y[((n*p.H+y)*p.W+x)*3:][:3*k], out[0], out[1], out[2])
	}
}

// spread gives k pixels the components of their pairs.
func (d *Decode) spread(work *decodeWork, n, y, x, k int) {
	p := &d.Planes[1]
	row := p.from(n, min(y/2, p.H-1))
	u, v := &work.bytes[1], &work.bytes[2]
	pairs := max(0, min((x+k)/2, p.W)-x/2)
	whole := 2 * pairs / spreadStep * spreadStep
	if whole > 0 {
		fast.spread(&u[0], &v[0], &row[x], whole)
	}
	if 2*pairs > whole {
		spreadGeneric(&u[whole], &v[whole], &row[x+whole], 2*pairs-whole)
	}
	if last := 2 * (p.W - 1); k > 2*pairs {
		u[k-1], v[k-1] = row[last], row[last+1]
	}
}

func (d *Decode) check() {
	one := func(n int) bool { return n == 1 || n == 3 }
	if !one(d.Components) || !one(d.Channels) || d.Channels != d.Components || len(d.Planes) < 1 || len(d.Planes) > 2 {
		panic(fmt.Sprintf("kernel: Decode: %d components, %d channels, %d planes", d.Components, d.Channels, len(d.Planes)))
	}
	for i := range d.Planes {
		p := &d.Planes[i]
		need("Decode", "plane", len(p.Data), p.extent(d.Batch))
	}
	p := &d.Planes[0]
	if len(d.Planes) == 1 && p.Comps < d.Components {
		panic(fmt.Sprintf("kernel: Decode: %d components of %d", d.Components, p.Comps))
	}
	if len(d.Planes) == 2 {
		q := &d.Planes[1]
		if p.Col != 1 || q.Col != 2 || q.Comp != 1 || q.Comps != 2 || q.H != p.H/2 || q.W != p.W/2 || q.H == 0 || q.W == 0 {
			panic(fmt.Sprintf("kernel: Decode: planes of %d x %d and %d x %d", p.H, p.W, q.H, q.W))
		}
	}
	need("Decode", "Y", len(d.Y), d.Batch*d.Channels*p.H*p.W)
}
