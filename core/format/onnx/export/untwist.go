package export

import "slices"

// untwist takes out each Transpose that undoes the one before it, and that one if nothing else reads it: weights that
// nodes make come in the order of ONNX, are read in that of core, and are written in that of ONNX again. Runtimes would
// not see that a convolution has the weights of a DequantizeLinear. A graph with bodies, which may read any value,
// stays as it is.
func (s *scope) untwist() {
	maker, readers := map[string]int{}, map[string]int{}
	for i := range s.list {
		n := &s.list[i]
		if slices.Contains([]string{"If", "Loop", "Scan"}, n.op) && n.domain == "" {
			return
		}
		for _, v := range n.out {
			maker[v] = i
		}
		for _, v := range n.in {
			readers[v]++
		}
	}
	for _, v := range s.outs {
		readers[v]++
	}
	instead := map[string]string{}
	for i := range s.list {
		second := &s.list[i]
		for k, v := range second.in {
			if to, ok := instead[v]; ok {
				second.in[k] = to
				readers[to]++
			}
		}
		perm := second.perm()
		if perm == nil || slices.Contains(s.outs, second.out[0]) {
			continue
		}
		k, ok := maker[second.in[0]]
		if !ok || !undoes(s.list[k].perm(), perm) {
			continue
		}
		first := &s.list[k]
		instead[second.out[0]] = first.in[0]
		s.gone[second.out[0]] = true
		if readers[first.out[0]]--; readers[first.out[0]] == 0 {
			s.gone[first.out[0]] = true
		}
	}
	before := len(s.list)
	s.list = slices.DeleteFunc(s.list, func(n emitted) bool { return n.op == "Transpose" && s.gone[n.out[0]] })
	s.count -= before - len(s.list)
}

// perm is the permutation of a Transpose, nil for other nodes and for one that says none.
func (n *emitted) perm() []int64 {
	if n.op != "Transpose" || n.domain != "" || len(n.attrs) != 1 {
		return nil
	}
	return n.attrs[0].ints
}

// undoes says whether two permutations one after the other change nothing.
func undoes(first, second []int64) bool {
	if len(first) != len(second) {
		return false
	}
	for i, p := range second {
		if first[p] != int64(i) {
			return false
		}
	}
	return true
}
