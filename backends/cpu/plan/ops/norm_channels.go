package ops

import (
	"math"
	"sync/atomic"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
)

type groupNorm struct {
	scale, bias []float32
	groups, per int // channels of a group
	eps         float32
}

func (q groupNorm) compute(t *rowsTask, from, to int) {
	inner := t.cols / q.per
	for r := from; r < to; r++ {
		y, x := t.part(r, r+1)
		rest, variance := kernel.Centre(y, x)
		rstd := 1 / math.Sqrt(variance+float64(q.eps))
		c := r % q.groups * q.per
		for k := range q.per {
			p := y[k*inner:][:inner]
			factor := rstd * float64(q.scale[c+k])
			kernel.Affine(p, p, 0, float32(factor), float32(float64(q.bias[c+k])-float64(rest)*factor))
		}
	}
}

// channelNorm normalizes groups of channels of each NHWC image, in three passes over the cells: sums,
// sums of squares around the mean, results. A pass goes over parts of an image's cells, whose sums are added up in
// float64 between the passes. Where a mean is large beside the deviation, two more passes find what its rounding left,
// and the squares around that (see [kernel.Centre]).
type channelNorm struct {
	st               *run.Step
	scale, bias      []float32
	groups, channels int
	images, cells    int
	parts            int // of an image
	eps              float32
	pass             normPass
	again            bool  // rest is known
	far              int32 // 1: a mean is too large for the variance to be accurate; set by chunks at once
	x, y             []float32
	sums             []float32 // [images, parts, channels] of the pass
	mean, rest       []float32 // [images, channels]: the mean is their sum
	factor, shift    []float32 // [images, channels]
	centered         []float32 // room values per thread
}

// normPass is one pass over the cells.
type normPass uint8

const (
	sumPass    normPass = iota // sums
	squarePass                 // sums of squares around mean and rest
	restPass                   // sums of what is around the mean
	resultPass
	meanSums   // the means of the sums of each group are mean
	restSums   // they are rest
	squareSums // they are the variances, from which factor and shift follow
)

// partCells is how many cells are summed up in float32 at most.
const partCells = 256

// combinedSums is how many sums a chunk adds up between the passes.
const combinedSums = 1 << 16

func newChannelNorm(q groupNorm, images, channels, cells int) channelNorm {
	return channelNorm{scale: q.scale, bias: q.bias, groups: q.groups, channels: channels, images: images, eps: q.eps,
		cells: cells, parts: max((cells+partCells-1)/partCells, min(cells, cells*channels/run.BlockLen))}
}

func (t *channelNorm) Run(s *run.State) error {
	t.x, t.y = s.F32(t.st.Reads[0]), s.F32(t.st.Writes[0])
	rows, all := t.images*t.parts, t.images*t.channels
	work, err := s.Borrow(rows*t.channels + 4*all + max(1, s.Threads)*t.room())
	if err != nil {
		return err
	}
	t.sums, work = work[:rows*t.channels], work[rows*t.channels:]
	for _, v := range []*[]float32{&t.mean, &t.rest, &t.factor, &t.shift} {
		*v, work = work[:all], work[all:]
	}
	t.centered = work
	clear(t.rest)
	t.again = false
	t.do(s, sumPass)
	t.do(s, meanSums)
	if t.squares(s) {
		t.do(s, restPass)
		t.do(s, restSums)
		t.again = true
		t.squares(s)
	}
	t.do(s, resultPass)
	return nil
}

// fewChannels is how many values make a call of a kernel pay.
const fewChannels = 256

// row is the number of values that kernels take at once: a cell, or several of few channels.
func (t *channelNorm) row() int { return t.channels * max(1, fewChannels/max(1, t.channels)) }

// room is how many values of scratch memory a thread needs: four rows, or those of the sums of a part.
func (t *channelNorm) room() int {
	return max(4*t.row(), kernel.ReduceColsWork(kernel.ReduceSum, (t.cells+t.parts-1)/t.parts, t.channels))
}

func (t *channelNorm) do(s *run.State, pass normPass) {
	t.pass = pass
	if pass >= meanSums {
		s.Do(t.images*t.blocks(), t)
		return
	}
	s.Do(t.images*t.parts, t)
}

// squares finds the variances and from them the factors and shifts. far reports whether a mean is too large to be
// accurate.
func (t *channelNorm) squares(s *run.State) (far bool) {
	t.do(s, squarePass)
	t.far = 0
	t.do(s, squareSums)
	return t.far != 0
}

// blockGroups is the number of groups whose sums a chunk adds up.
func (t *channelNorm) blockGroups() int {
	return max(1, combinedSums/max(1, t.parts*(t.channels/t.groups)))
}

// blocks is the number of such chunks of an image.
func (t *channelNorm) blocks() int { return (t.groups + t.blockGroups() - 1) / t.blockGroups() }

// combine finds the means of the sums of some groups of an image; channels count through all images.
func (t *channelNorm) combine(image, block int) {
	per := t.channels / t.groups
	sums := t.sums[image*t.parts*t.channels:][:t.parts*t.channels]
	for g := block * t.blockGroups(); g < min(t.groups, (block+1)*t.blockGroups()); g++ {
		total := 0.0
		for p := range t.parts {
			for _, v := range sums[p*t.channels+g*per:][:per] {
				total += float64(v)
			}
		}
		for c := g * per; c < (g+1)*per; c++ {
			t.put(image*t.channels+c, total/float64(per*t.cells))
		}
	}
}

// put takes the mean of the sums of a channel's group.
func (t *channelNorm) put(c int, mean float64) {
	switch t.pass {
	case meanSums:
		t.mean[c] = float32(mean)
	case restSums:
		t.rest[c] = float32(mean)
	default:
		if kernel.FarFromZero(t.mean[c], mean) {
			atomic.StoreInt32(&t.far, 1)
		}
		factor := float64(t.scale[c%t.channels]) / math.Sqrt(mean+float64(t.eps))
		t.factor[c], t.shift[c] = float32(factor), float32(float64(t.bias[c%t.channels])-float64(t.rest[c])*factor)
	}
}

// Chunk does the pass's work on one part of an image, or combines the sums of some groups.
func (t *channelNorm) Chunk(i, worker int) {
	if t.pass >= meanSums {
		t.combine(i/t.blocks(), i%t.blocks())
		return
	}
	image, part, n := i/t.parts, i%t.parts, t.channels
	from, to := part*t.cells/t.parts, (part+1)*t.cells/t.parts
	at := (image*t.cells + from) * n
	x, sums := t.x[at:][:(to-from)*n], t.sums[i*n:][:n]
	work := t.centered[worker*t.room():][:t.room()]
	if t.pass == sumPass {
		kernel.ReduceCols(kernel.ReduceSum, sums, x, to-from, n, work)
		return
	}
	row := t.row()
	repeated := func(k int, v []float32) []float32 {
		v = v[image*n:][:n]
		if row == n {
			return v
		}
		dst := work[k*row:][:row]
		for c := 0; c < row; c += n {
			copy(dst[c:], v)
		}
		return dst
	}
	mean := repeated(0, t.mean)
	if t.pass == resultPass {
		y, factor, shift := t.y[at:][:len(x)], repeated(1, t.factor), repeated(2, t.shift)
		for c := 0; c < len(x); c += row {
			y, x := y[c:min(c+row, len(y))], x[c:min(c+row, len(x))]
			kernel.BinaryVV(kernel.Sub, y, x, mean[:len(x)])
			kernel.ScaleShiftRows(y, y, factor[:len(x)], shift[:len(x)], 1, len(x))
		}
		return
	}
	rest, d, all := repeated(1, t.rest), work[2*row:][:row], work[3*row:][:row]
	clear(all)
	for c := 0; c < len(x); c += row {
		x := x[c:min(c+row, len(x))]
		d := d[:len(x)]
		kernel.BinaryVV(kernel.Sub, d, x, mean[:len(x)])
		if t.pass == squarePass {
			if t.again {
				kernel.BinaryVV(kernel.Sub, d, d, rest[:len(x)])
			}
			kernel.BinaryVV(kernel.Mul, d, d, d)
		}
		kernel.BinaryVV(kernel.Add, all[:len(x)], all[:len(x)], d)
	}
	copy(sums, all)
	for c := n; c < row; c += n {
		kernel.BinaryVV(kernel.Add, sums, sums, all[c:][:n])
	}
}
