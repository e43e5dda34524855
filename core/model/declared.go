package model

import (
	"slices"
	"strconv"
)

// open reports whether a declared dimension has no size.
func open(dim string) bool {
	_, err := strconv.ParseInt(dim, 10, 64)
	return err != nil
}

// fitsDims reports whether an input declared with dims can have a shape: an open size is any, and a first one of 1
// another batch.
func fitsDims(shape []int64, dims []string) bool {
	if len(shape) != len(dims) || len(shape) == 0 || slices.Min(shape) < 1 {
		return false
	}
	for i, s := range texts(shape) {
		if s != dims[i] && !open(dims[i]) && (i > 0 || dims[i] != "1") {
			return false
		}
	}
	return true
}

func texts(v []int64) []string {
	out := make([]string, len(v))
	for i, x := range v {
		out[i] = strconv.FormatInt(x, 10)
	}
	return out
}

// imageOf reports whether an input declared with dims can take images of the size of whole, [N,-1,H,W], in color or
// gray.
func imageOf(dims []string, whole []int64) bool {
	fits := func(c, h, w int) bool {
		is := func(i int, v ...string) bool { return open(dims[i]) || slices.Contains(v, dims[i]) }
		size := texts(whole)
		return is(c, "1", "3") && is(h, size[2]) && is(w, size[3])
	}
	return len(dims) == 4 && whole[0] > 0 && whole[2] > 0 && whole[3] > 0 && whole[3]%2 == 0 &&
		(fits(1, 2, 3) || fits(3, 1, 2))
}
