package bombs

// Long returns models of some hundred bytes whose runs take seconds, or never end, in little memory: each has the input
// float [1] and one output of one number.
func Long() []Bomb {
	made := func(name string, f func(g *graph, x string) string) Bomb {
		g := &graph{}
		y := f(g, g.input(float, 1))
		sum := g.node("ReduceSum", []string{g.node("Cast", []string{y}, attr{"to", int64(float)})}, attr{"keepdims",
			int64(0)})
		g.out = append(g.out, value(g.node("Reshape", []string{sum, g.constant(longs(1))}), float, []int64{1}, true))
		return Bomb{Name: name, Model: g.model()}
	}
	wide := func(g *graph, x string, dims ...int64) string {
		return g.node("Expand", []string{x, g.constant(longs(dims...))})
	}
	recurrent := func(op string, gates int64) func(g *graph, x string) string {
		return func(g *graph, x string) string {
			w := wide(g, x, 1, gates*64, 64)
			return g.nodeN(op, 1, []string{wide(g, x, 1<<17, 1, 64), w, w}, attr{"hidden_size", int64(64)})[0]
		}
	}
	body := func() *graph { // counts for ever
		b := &graph{prefix: "b"}
		b.input(int64s)
		cond := b.input(bools)
		state := b.parameter(float)
		b.output(b.node("Identity", []string{cond}), bools)
		b.output(b.node("Add", []string{state, b.constant(floats(1))}), float)
		return b
	}
	return []Bomb{
		made("matmul", func(g *graph, x string) string {
			a := wide(g, x, 4096, 4096)
			return g.node("MatMul", []string{a, a})
		}),
		made("einsum", func(g *graph, x string) string {
			a := wide(g, x, 4096, 4096)
			return g.node("Einsum", []string{a, a}, attr{"equation", "ij,kj->ik"})
		}),
		made("conv", func(g *graph, x string) string {
			return g.node("Conv", []string{wide(g, x, 1, 64, 512, 512), wide(g, x, 64, 64, 5, 5)})
		}),
		made("grouped", func(g *graph, x string) string {
			return g.node("Conv", []string{wide(g, x, 1, 64, 512, 512), wide(g, x, 64, 1, 31, 31)}, attr{"group", int64(64)})
		}),
		made("volume", func(g *graph, x string) string {
			return g.node("Conv", []string{wide(g, x, 1, 16, 64, 64, 64), wide(g, x, 16, 16, 7, 7, 7)})
		}),
		made("convtranspose", func(g *graph, x string) string {
			return g.node("ConvTranspose", []string{wide(g, x, 1, 64, 256, 256), wide(g, x, 64, 64, 5, 5)})
		}),
		made("maxpool", func(g *graph, x string) string {
			return g.node("MaxPool", []string{wide(g, x, 1, 1, 4096, 4096)}, attr{"kernel_shape", []int64{63, 63}})
		}),
		made("lrn", func(g *graph, x string) string {
			return g.node("LRN", []string{wide(g, x, 1, 1024, 128, 128)}, attr{"size", int64(511)})
		}),
		made("resize", func(g *graph, x string) string {
			return g.node("Resize", []string{wide(g, x, 1, 1, 64, 64), "", g.constant(floats(1, 1, 128, 128))},
				attr{"mode", "cubic"})
		}),
		made("gridsample", func(g *graph, x string) string {
			return g.node("GridSample", []string{wide(g, x, 1, 1, 64, 64), wide(g, x, 1, 4096, 4096, 2)},
				attr{"mode", "bicubic"})
		}),
		made("dft", func(g *graph, x string) string {
			return g.node("DFT", []string{wide(g, x, 64, 99991, 1)})
		}),
		made("lstm", recurrent("LSTM", 4)),
		made("gru", recurrent("GRU", 3)),
		made("loop", func(g *graph, x string) string {
			return g.node("Loop", []string{g.constant(long(1 << 62)), g.constant(truth(1)), x}, attr{"body", body()})
		}),
		made("loops", func(g *graph, x string) string { // one in the other
			b := &graph{prefix: "c"}
			b.input(int64s)
			cond := b.input(bools)
			state := b.parameter(float)
			b.output(b.node("Identity", []string{cond}), bools)
			b.output(b.node("Loop", []string{b.constant(long(1 << 20)), b.constant(truth(1)), state}, attr{"body", body()}),
				float)
			return g.node("Loop", []string{g.constant(long(1 << 62)), g.constant(truth(1)), x}, attr{"body", b})
		}),
		made("scan", func(g *graph, x string) string {
			b := &graph{prefix: "b"}
			state, item := b.parameter(float), b.parameter(float)
			b.output(b.node("Add", []string{state, item}), float)
			b.output(b.node("Identity", []string{item}), float)
			return g.nodeN("Scan", 2, []string{x, wide(g, x, 1<<24, 1)}, attr{"body", b}, attr{"num_scan_inputs", int64(1)})[0]
		}),
	}
}
