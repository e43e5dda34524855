package lower

import "github.com/anynpu/anynpu/core/tensor"

// Permuted returns dims in the order perm.
func Permuted(dims []int64, perm []int) []int64 {
	out := make([]int64, len(perm))
	for i, p := range perm {
		out[i] = dims[p]
	}
	return out
}

// Permute copies elements of width bytes from src with sizes dims to dst with the dimensions in the order perm.
func Permute(dst, src []byte, dims []int64, perm []int, width int) {
	if len(src) == 0 {
		return
	}
	dims, perm = mergeAxes(dims, perm)
	switch {
	case len(perm) <= 1:
		copy(dst, src)
		return
	case len(perm) == 3 && perm[0] == 0 && width == 4:
		rows, cols := int(dims[1]), int(dims[2])
		for at := 0; at < len(src); at += rows * cols * width {
			transpose4(dst[at:], src[at:], rows, cols)
		}
		return
	case len(perm) == 2 && width == 4:
		transpose4(dst, src, int(dims[0]), int(dims[1]))
		return
	}
	strides := tensor.RowMajor(dims)
	out, step, at := Permuted(dims, perm), make([]int, len(perm)), make([]int64, len(perm))
	for i, p := range perm {
		step[i] = int(strides[p]) * width
	}
	pos := 0
	for d := 0; d < len(src); d += width {
		copy(dst[d:d+width], src[pos:])
		for k := len(at) - 1; k >= 0; k-- {
			at[k]++
			pos += step[k]
			if at[k] < out[k] {
				break
			}
			pos -= step[k] * int(out[k])
			at[k] = 0
		}
	}
}

// mergeAxes leaves out dimensions of size 1 and joins those that stay neighbours in the order perm, which changes no
// byte of the result. Two or three dimensions that it returns are not in their own order.
func mergeAxes(dims []int64, perm []int) (merged []int64, order []int) {
	var groups [][]int // of dimensions of src, in the order of dst
	for _, p := range perm {
		if dims[p] == 1 {
			continue
		}
		if n := len(groups); n > 0 {
			last := groups[n-1][len(groups[n-1])-1]
			next := last + 1
			for next < p && dims[next] == 1 {
				next++
			}
			if next == p {
				groups[n-1] = append(groups[n-1], p)
				continue
			}
		}
		groups = append(groups, []int{p})
	}
	rank := make([]int, len(groups)) // position in src
	for i := range groups {
		for k := range groups {
			if groups[k][0] < groups[i][0] {
				rank[i]++
			}
		}
	}
	merged = make([]int64, len(groups))
	for i, g := range groups {
		n := int64(1)
		for _, p := range g {
			n *= dims[p]
		}
		merged[rank[i]] = n
	}
	return merged, rank
}

// transpose4 is Permute of a matrix of elements of four bytes.
func transpose4(dst, src []byte, rows, cols int) {
	for c := range cols {
		out := dst[4*c*rows:][:4*rows]
		for r, at := 0, 4*c; r < rows; r, at = r+1, at+4*cols {
			*(*[4]byte)(out[4*r:]) = *(*[4]byte)(src[at:])
		}
	}
}

// filterInput names the operators whose input 1 is a filter that is stored in the project's order, [O, spatial...,
// I/groups].
var filterInput = map[string]bool{"Conv": true, "ConvInteger": true, "ConvTranspose": true, "DeformConv": true,
	microsoft + ".FusedConv": true}

// filterPerm is the order of the dimensions of a filter in the project, as a filter of the given rank in the file has
// them.
func filterPerm(rank int, transposed bool) []int {
	perm := []int{0}
	if transposed {
		perm[0] = 1
	}
	for k := 2; k < rank; k++ {
		perm = append(perm, k)
	}
	return append(perm, 1-perm[0])
}
