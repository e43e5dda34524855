package kernel

import "fmt"

// ByteRegion is a part of a plane: the columns from Left to Right and the rows
// from Top to Bottom, all included.
type ByteRegion struct{ Left, Top, Right, Bottom int }

// ResizeBytes resizes a region of each image, bilinearly in integers. Cell i of
// dst of an axis of src cells is at i*step in units of 1/65536, with
//
//	step = ((src-1)*65536 + (dst-1)/2) / (dst-1), for dst 1: 0
//
// between two cells, of which the second is at most src-1; four neighbours are
// mixed as (sum of products with weights of 16 bits + 2^31) >> 32. Planes of
// both have components side by side, or each in rows of its own.
type ResizeBytes struct {
	Batch    int
	From, To Bytes
	Regions  []ByteRegion // of From, per image

	at     []int32 // per image and column: the first neighbour, in bytes from the row's begin
	weight []uint32
	split  rowChunks
}

// Plan checks the operands and returns the number of chunks for the given number
// of threads. It allocates at its first call only, 8 bytes per image and column.
func (r *ResizeBytes) Plan(threads int) int {
	r.check()
	wide := r.To.W
	if r.at == nil {
		r.at, r.weight = make([]int32, r.Batch*wide), make([]uint32, r.Batch*wide)
	}
	for n := range r.Batch {
		b := &r.Regions[n]
		last, step := b.Right-b.Left, byteStep(b.Right-b.Left, wide)
		at, weight := r.at[n*wide:][:wide], r.weight[n*wide:][:wide]
		for i := range at {
			cell, w := i*step>>16, i*step&65535
			if cell >= last {
				cell, w = last, 0
			}
			at[i], weight[i] = int32((b.Left+cell)*r.From.Col), uint32(w)
		}
	}
	r.split = divideRows(r.Batch*r.To.H, 32*wide*r.To.Comps, threads)
	return r.split.chunks
}

// byteStep is the distance of cells of dst on an axis whose cells are 0 to last.
func byteStep(last, dst int) int {
	if dst == 1 {
		return 0
	}
	return (last<<16 + (dst-1)/2) / (dst - 1)
}

// Chunk computes chunk i of the division that Plan made.
func (r *ResizeBytes) Chunk(i int) {
	for row, end := r.split.bounds(i); row < end; row++ {
		r.row(row/r.To.H, row%r.To.H)
	}
}

// Run resizes everything on the calling goroutine.
func (r *ResizeBytes) Run() {
	for i := range r.Plan(1) {
		r.Chunk(i)
	}
}

func (r *ResizeBytes) row(n, y int) {
	b := &r.Regions[n]
	last, pos := b.Bottom-b.Top, y*byteStep(b.Bottom-b.Top, r.To.H)
	cell := min(pos>>16, last)
	top, bottom := r.From.from(n, b.Top+cell), r.From.from(n, b.Top+min(cell+1, last))
	out := r.To.from(n, y)
	comps, parts := r.To.Comps, 1
	if r.To.Col == 1 {
		comps, parts = 1, r.To.Comps
	}
	wide := r.To.W
	at, weight := r.at[n*wide:][:wide], r.weight[n*wide:][:wide]
	for p := range parts {
		dst, high, low := out[p*r.To.Comp:][:wide*comps], top[p*r.From.Comp:], bottom[p*r.From.Comp:]
		if wy := uint32(pos & 65535); wy == 0 && b.Right-b.Left+1 == wide {
			copy(dst, high[at[0]:])
		} else {
			mixRow(dst, high, low, at, weight, wy, comps)
		}
	}
}

// mixRow mixes two rows. Kernels load 4 bytes at a neighbour, which the last ones of a plane do not have.
func mixRow(dst, top, bottom []byte, at []int32, weight []uint32, wy uint32, comps int) {
	n, room := len(at), int32(min(len(top), len(bottom)))
	for n > 0 && at[n-1]+4 > room {
		n--
	}
	n = n / resizeStep * resizeStep
	switch {
	case n == 0 || comps > 2:
		n = 0
	case comps == 1:
		fast.resize1(&dst[0], &top[0], &bottom[0], &at[0], &weight[0], n, wy)
	default:
		fast.resize2(&dst[0], &top[0], &bottom[0], &at[0], &weight[0], n, wy)
	}
	if n < len(at) {
		resizeRow(&dst[n*comps], &top[0], &bottom[0], &at[n], &weight[n], len(at)-n, wy, comps)
	}
}

func (r *ResizeBytes) check() {
	f, t := &r.From, &r.To
	side := func(b *Bytes) bool { return b.Col == b.Comps && (b.Comp == 1 || b.Comps == 1) }
	plain := func(b *Bytes) bool { return b.Col == 1 }
	if f.Comps != t.Comps || !(side(f) && side(t) || plain(f) && plain(t)) || t.H < 1 || t.W < 1 || t.W > 1<<15 ||
		t.H > 1<<15 {
		panic(fmt.Sprintf("kernel: ResizeBytes: %d components to %d, steps %d and %d, to %d x %d", f.Comps, t.Comps, f.Col,
			t.Col, t.H, t.W))
	}
	need("ResizeBytes", "From", len(f.Data), f.extent(r.Batch))
	need("ResizeBytes", "To", len(t.Data), t.extent(r.Batch))
	need("ResizeBytes", "Regions", len(r.Regions), r.Batch)
	for i, b := range r.Regions[:r.Batch] {
		if b.Left < 0 || b.Top < 0 || b.Right >= f.W || b.Bottom >= f.H || b.Left > b.Right || b.Top > b.Bottom ||
			f.W*f.Col >= 1<<31 {
			panic(fmt.Sprintf("kernel: ResizeBytes: region %d: %+v of %d x %d", i, b, f.H, f.W))
		}
	}
}
