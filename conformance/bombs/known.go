package bombs

// Bomb is a model with what its inputs want.
type Bomb struct {
	Name  string
	Model []byte
	Runs  bool // a run ends by itself, with an error of memory
}

// Known returns bombs of every kind by name.
func Known() []Bomb {
	build := func(name string, runs bool, f func(g *graph) string, dtype int64) Bomb {
		g := &graph{}
		g.output(f(g), dtype)
		return Bomb{name, g.model(), runs}
	}
	filled := func(g *graph, dims ...int64) string {
		return g.node("ConstantOfShape", []string{g.constant(longs(dims...))})
	}
	loop := func(body func(b *graph, state string) string, dtype int64) func(g *graph) string {
		return func(g *graph) string {
			b := &graph{prefix: "b"}
			b.input(int64s)
			cond := b.input(bools)
			state := b.parameter(dtype)
			next := body(b, state)
			b.output(b.node("Identity", []string{cond}), bools)
			b.output(next, dtype)
			start := g.node("Identity", []string{g.input(float, 1)})
			return g.node("Loop", []string{g.constant(long(1 << 62)), g.constant(truth(1)), start}, attr{"body", b})
		}
	}
	return []Bomb{
		build("constantofshape", true, func(g *graph) string { return filled(g, 1<<30) }, float),
		build("onehot", true, func(g *graph) string {
			values := g.constant(floats(0, 1))
			return g.node("OneHot", []string{g.constant(longs(1, 2, 3, 4)), g.constant(long(1 << 28)), values})
		}, float),
		build("matmul", true, func(g *graph) string {
			return g.node("MatMul", []string{filled(g, 16384, 16384), filled(g, 16384, 16384)})
		}, float),
		build("range", true, func(g *graph) string {
			return g.node("Range", []string{g.constant(long(0)), g.constant(long(1_000_000_000)), g.constant(long(1))})
		}, int64s),
		build("dilatedpool", false, func(g *graph) string {
			return g.node("MaxPool", []string{filled(g, 1, 1, 8, 8)}, attr{"kernel_shape", []int64{2, 2}},
				attr{"dilations", []int64{1 << 14, 1 << 14}},
				attr{"pads", []int64{1 << 14, 1 << 14, 1 << 14, 1 << 14}})
		}, float),
		build("widepool", false, func(g *graph) string {
			return g.node("MaxPool", []string{filled(g, 1, 1, 1<<20)}, attr{"kernel_shape", []int64{1 << 19}},
				attr{"dilations", []int64{1}}, attr{"pads", []int64{1 << 18, 1 << 18}})
		}, float),
		build("convolution", false, func(g *graph) string {
			x := g.node("Reshape", []string{filled(g, 1<<26), g.constant(longs(1, 1, 1<<13, 1<<13))})
			return g.node("Conv", []string{x, filled(g, 8, 1, 31, 31)}, attr{"pads", []int64{15, 15, 15, 15}})
		}, float),
		build("deconvolution", false, func(g *graph) string {
			return g.node("ConvTranspose", []string{filled(g, 1, 1, 2, 2), filled(g, 1, 1, 2, 2)},
				attr{"strides", []int64{1 << 14, 1 << 14}})
		}, float),
		build("resize", true, func(g *graph) string {
			return g.node("Resize", []string{g.input(float, 1, 1, 2, 2), "", g.constant(floats(1, 1, 40000, 40000))},
				attr{"mode", "linear"})
		}, float),
		build("window", true, func(g *graph) string { return g.node("HannWindow", []string{g.constant(long(1 << 31))}) },
			float),
		build("upsampledline", true, func(g *graph) string {
			return g.node("Resize", []string{g.input(float, 1, 1, 1, 4), "", g.constant(floats(1, 1, 1, 100_000_000))},
				attr{"mode", "linear"})
		}, float),
		build("columns", true, func(g *graph) string {
			return g.node("Expand", []string{g.input(float, 1), g.constant(longs(1<<15, 1<<15))})
		}, float),
		build("loopgrows", true, loop(func(b *graph, state string) string {
			return b.node("Concat", []string{state, state}, attr{"axis", int64(0)})
		}, float), float),
		build("loopappends", true, func(g *graph) string {
			b := &graph{prefix: "b"}
			b.input(int64s)
			cond := b.input(bools)
			b.output(b.node("Identity", []string{cond}), bools)
			b.output(b.node("Expand", []string{b.constant(floats(1)), b.constant(longs(1 << 20))}), float)
			return g.node("Loop", []string{g.constant(long(1 << 40)), g.node("Cast", []string{g.input(float, 1)},
				attr{"to", int64(bools)})}, attr{"body", b})
		}, float),
		build("loopcounts", true, func(g *graph) string { // a scan output of single numbers
			b := &graph{prefix: "b"}
			i := b.input(int64s)
			cond := b.input(bools)
			b.output(b.node("Identity", []string{cond}), bools)
			b.output(b.node("Identity", []string{i}), int64s)
			return g.node("Loop", []string{g.constant(long(1 << 40)), g.node("Cast", []string{g.input(float, 1)},
				attr{"to", int64(bools)})}, attr{"body", b})
		}, int64s),
		build("scan", true, func(g *graph) string {
			b := &graph{prefix: "b"}
			x := b.parameter(float)
			b.output(b.node("Expand", []string{x, b.constant(longs(1 << 22))}), float)
			return g.node("Scan", []string{g.node("Expand", []string{g.input(float, 1), g.constant(longs(1 << 16))})},
				attr{"body", b}, attr{"num_scan_inputs", int64(1)})
		}, float),
		build("branch", true, func(g *graph) string {
			branches := [2]*graph{}
			for i := range branches {
				b := &graph{prefix: "b" + itoa(i)}
				b.output(b.node("ConstantOfShape", []string{b.constant(longs(1 << 30))}), float)
				branches[i] = b
			}
			cond := g.node("Cast", []string{g.input(float, 1)}, attr{"to", int64(bools)})
			return g.node("If", []string{cond}, attr{"then_branch", branches[0]}, attr{"else_branch", branches[1]})
		}, float),
	}
}
