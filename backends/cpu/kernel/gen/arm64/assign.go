package main

import "fmt"

// general are the general registers that functions use: not those of the platform, the assembler, the goroutine, the
// frame and the link.
var general = []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 19, 20, 21, 22, 23, 24, 25, 26}

// assign gives every virtual register of a function a number, such that no two that are alive at once share one.
func assign(name string, body []*inst) {
	index := map[*reg]int{}
	var regs []*reg
	note := func(list []*reg) {
		for _, r := range list {
			if _, ok := index[r]; !ok {
				index[r] = len(regs)
				regs = append(regs, r)
			}
		}
	}
	labels := map[string]int{}
	for i, in := range body {
		note(in.uses)
		note(in.defs)
		if in.label != "" {
			labels[in.label] = i
		}
	}
	live := liveAfter(name, body, index, labels)
	clash := make([]set, len(regs))
	for i := range clash {
		clash[i] = newSet(len(regs))
	}
	for i, in := range body {
		for _, d := range in.defs {
			k := index[d]
			for j := range regs {
				if j != k && live[i].has(j) && regs[j].vec == d.vec {
					clash[k].add(j)
					clash[j].add(k)
				}
			}
			for _, e := range in.defs {
				if e != d && e.vec == d.vec {
					clash[k].add(index[e])
				}
			}
		}
	}
	for k, r := range regs {
		if r.n >= 0 {
			continue
		}
		numbers := general
		if r.vec {
			numbers = vectors[:]
		}
		taken := map[int]bool{}
		for j, o := range regs {
			if clash[k].has(j) && o.n >= 0 {
				taken[o.n] = true
			}
		}
		for _, n := range numbers {
			if !taken[n] {
				r.n = n
				break
			}
		}
		if r.n < 0 {
			panic(fmt.Sprintf("%s: no register is left (vectors: %v)", name, r.vec))
		}
	}
}

var vectors = func() (v [32]int) {
	for i := range v {
		v[i] = i
	}
	return v
}()

// liveAfter says which registers are read after each instruction.
func liveAfter(name string, body []*inst, index map[*reg]int, labels map[string]int) []set {
	before, after := make([]set, len(body)+1), make([]set, len(body))
	for i := range before {
		before[i] = newSet(len(index))
	}
	for i := range after {
		after[i] = newSet(len(index))
	}
	for changed := true; changed; {
		changed = false
		for i := len(body) - 1; i >= 0; i-- {
			in := body[i]
			if in.falls {
				after[i].join(before[i+1])
			}
			if in.jump != "" {
				to, ok := labels[in.jump]
				if !ok {
					panic(name + ": no label " + in.jump)
				}
				after[i].join(before[to])
			}
			now := newSet(len(index))
			now.join(after[i])
			for _, d := range in.defs {
				now.drop(index[d])
			}
			for _, u := range in.uses {
				now.add(index[u])
			}
			if before[i].join(now) {
				changed = true
			}
		}
	}
	return after
}

type set []uint64

func newSet(n int) set       { return make(set, (n+63)/64) }
func (s set) has(i int) bool { return s[i/64]>>(i%64)&1 != 0 }
func (s set) add(i int)      { s[i/64] |= 1 << (i % 64) }
func (s set) drop(i int)     { s[i/64] &^= 1 << (i % 64) }
func (s set) join(o set) bool { // whether it grew
	grew := false
	for i, w := range o {
		grew = grew || w&^s[i] != 0
		s[i] |= w
	}
	return grew
}
