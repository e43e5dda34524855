package main

import "fmt"

// stream walks n float32, or binary16: body is emitted for several vectors, for one, for two values and for one. ptrs
// move on together; body gets the byte offset and how many values to move.
func (g *gen) stream(n *reg, unroll int, ptrs []*reg, body func(at, lanes int)) {
	step := func(u int, loop, next string) {
		g.comment("%d vectors at a time", u)
		g.i("SUBS $%i, %u, %d", 4*u, n, n)
		g.jump("LT", next)
		g.label(loop)
		for i := range u {
			body(4*g.size*i, 4)
		}
		for _, p := range ptrs {
			g.i("ADD $%i, %u, %d", 4*g.size*u, p, p)
		}
		g.i("SUBS $%i, %u, %d", 4*u, n, n)
		g.jump("GE", loop)
		g.label(next)
		g.i("ADD $%i, %u, %d", 4*u, n, n)
	}
	if unroll > 1 {
		step(unroll, "unrolled", "few")
	}
	step(1, "vector", "rest")
	g.rest(n, ptrs, "", func(lanes int, _ string) { body(0, lanes) })
}

// rest emits body for two values and for one, of the n < 4 that are left.
func (g *gen) rest(n *reg, ptrs []*reg, suffix string, body func(lanes int, suffix string)) {
	for bit, lanes := range map2 {
		name := fmt.Sprint("no", lanes, suffix)
		g.i("TBZ $%i, %u, "+name, 1-bit, n)
		g.body[len(g.body)-1].jump = name
		body(lanes, fmt.Sprint(suffix, lanes))
		for _, p := range ptrs {
			g.i("ADD $%i, %u, %d", g.size*lanes, p, p)
		}
		g.label(name)
	}
}

var map2 = [2]int{2, 1}

// channels walks c channels, a vector at a time; ptrs move on together. body is emitted for four, two and one; its
// labels take the suffix that it is given.
func (g *gen) channels(c *reg, ptrs []*reg, body func(lanes int, suffix string)) {
	g.comment("a vector of channels")
	g.i("SUBS $4, %u, %d", c, c)
	g.jump("LT", "last")
	g.label("channels")
	body(4, "")
	for _, p := range ptrs {
		g.i("ADD $16, %u, %d", p, p)
	}
	g.i("SUBS $4, %u, %d", c, c)
	g.jump("GE", "channels")
	g.label("last")
	g.i("ADD $4, %u, %d", c, c)
	g.rest(c, ptrs, "", body)
}

// whole walks n > 0 values, a multiple of step, so many at a time.
func (g *gen) whole(n *reg, step int, body func()) {
	g.label("loop")
	body()
	g.i("SUBS $%i, %u, %d", step, n, n)
	g.jump("GT", "loop")
	g.end()
}
