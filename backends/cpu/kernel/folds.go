package kernel

import "math"

// FoldRows folds rows of src, which are ld numbers apart, into sums, which counts their columns.
func FoldRows(op FoldOp, sums []float64, src []float32, ld, rows int) {
	if rows <= 0 || len(sums) == 0 {
		return
	}
	need("FoldRows", "src", len(src), (rows-1)*ld+len(sums))
	n := 0
	if f := fast.fold[op]; f != nil {
		if n = len(sums) &^ (linesStep - 1); n > 0 {
			per := max(1, reduceBlock/n)
			for r := 0; r < rows; r += per {
				f(&sums[0], &src[r*ld], 4*ld, n, min(per, rows-r))
			}
		}
	}
	if n < len(sums) {
		foldGeneric(op, sums[n:], src[n:], ld, rows)
	}
}

// FoldWork is how many numbers of scratch memory FoldLine needs.
const FoldWork = 32

// FoldLine folds src to one number. All processors fold FoldWork columns first.
func FoldLine(op FoldOp, src []float32, work []float64) float64 {
	need("FoldLine", "work", len(work), FoldWork)
	sums := (*[FoldWork]float64)(work)
	if *sums = ([FoldWork]float64{}); op == FoldProduct {
		*sums = ones
	}
	rows := len(src) / FoldWork
	FoldRows(op, sums[:], src, FoldWork, rows)
	rest := src[rows*FoldWork:]
	foldGeneric(op, sums[:len(rest)], rest, len(rest), 1)
	if op == FoldProduct {
		for i := range 8 {
			sums[i] = sums[i] * sums[i+8] * (sums[i+16] * sums[i+24])
		}
		return sums[0] * sums[1] * (sums[2] * sums[3]) * (sums[4] * sums[5] * (sums[6] * sums[7]))
	}
	for i := range 8 {
		sums[i] = sums[i] + sums[i+8] + (sums[i+16] + sums[i+24])
	}
	return sums[0] + sums[1] + (sums[2] + sums[3]) + (sums[4] + sums[5] + (sums[6] + sums[7]))
}

var ones = func() (v [FoldWork]float64) {
	for i := range v {
		v[i] = 1
	}
	return v
}()

// SumAbs adds up the magnitudes of src as [Sum] adds up numbers: where none is negative, both are the same. work holds
// some numbers, the more the better.
func SumAbs(src, work []float32) float32 {
	s := 0.0
	for i := 0; i < len(src); i += sumBlock {
		n := min(sumBlock, len(src)-i)
		if f := fast.sumAbs; f != nil {
			s += float64(f(&src[i], n))
			continue
		}
		s += sumAbsGeneric(src[i:i+n], work)
	}
	return float32(s)
}

func sumAbsGeneric(src, work []float32) (s float64) {
	for len(src) > 0 {
		part := work[:min(len(src), len(work))]
		Unary(Abs, part, src[:len(part)], 0, 0)
		s += sum64(part)
		src = src[len(part):]
	}
	return s
}

// foldGeneric defines the folds.
func foldGeneric(op FoldOp, sums []float64, src []float32, ld, rows int) {
	for r := range rows {
		x := src[r*ld:][:len(sums)]
		switch op {
		case FoldSum:
			for j, v := range x {
				sums[j] += float64(v)
			}
		case FoldAbs:
			for j, v := range x {
				sums[j] += math.Abs(float64(v))
			}
		case FoldSquares:
			for j, v := range x {
				sums[j] += float64(v) * float64(v)
			}
		default:
			for j, v := range x {
				sums[j] *= float64(v)
			}
		}
	}
}
