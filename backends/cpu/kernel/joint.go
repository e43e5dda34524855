package kernel

import "fmt"

// Joint is one product of a left side with several right sides, as if their
// columns were those of one matrix: rows of the left side are read once for all
// of them. The parts have the same M, K, A, LDA and Ind; each has its own B, C
// and epilogue. Numeric contract: that of [Gemm].
type Joint struct {
	Parts []Gemm

	whole   Gemm // sizes of the one matrix, each part padded to whole panels
	byParts bool // chunks of the same part follow each other, not those of the same rows
}

// jointBytes is the size of a left side that stays in the second-level cache
// anyhow: then one right side after another is read, as often as by itself.
const jointBytes = 512 << 10

// Plan checks the operands, divides the product into chunks of similar work for
// the given number of threads and returns their number.
func (j *Joint) Plan(threads int) int {
	j.whole = Gemm{}
	chunks := 0
	for i := range j.Parts {
		g := &j.Parts[i]
		g.check()
		if p := &j.Parts[0]; g.M != p.M || g.K != p.K || g.LDA != p.LDA || g.Ind != p.Ind {
			panic(fmt.Sprintf("kernel: Joint: part %d: M=%d K=%d LDA=%d, part 0: M=%d K=%d LDA=%d", i, g.M, g.K, g.LDA, p.M, p.K,
				p.LDA))
		}
		j.whole.M, j.whole.K, j.whole.LDA, j.whole.Ind = g.M, g.K, g.LDA, g.Ind
		j.whole.N += PanelCols * Panels(g.N)
		chunks += g.divide(threads)
	}
	if j.byParts = len(j.Parts) == 1 || 4*j.whole.M*j.whole.depth() <= jointBytes; !j.byParts {
		chunks = j.whole.divide(threads)
	}
	for i := range j.Parts { // all have the same spans
		if !j.byParts {
			j.Parts[i].spanParts = j.whole.spanParts
		}
		j.whole.spanParts = min(j.whole.spanParts, j.Parts[i].spanParts)
	}
	return chunks
}

// Spans returns the spans of each part: all are as deep. See [Gemm.Spans].
func (j *Joint) Spans() int {
	if len(j.Parts) == 0 {
		return 1
	}
	return j.Parts[0].Spans()
}

// SetSpan sets the span of every part. See [Gemm.SetSpan].
func (j *Joint) SetSpan(i int) {
	for k := range j.Parts {
		j.Parts[k].SetSpan(i)
	}
}

// Chunk computes chunk i of the division that Plan made.
func (j *Joint) Chunk(i int) {
	if j.byParts {
		for k := range j.Parts {
			g := &j.Parts[k]
			if n := g.rowChunks * g.panelChunks; i >= n {
				i -= n
				continue
			}
			g.Chunk(i)
			return
		}
		return
	}
	r0, r1, p0, p1 := j.whole.bounds(i)
	for k := range j.Parts {
		g := &j.Parts[k]
		n := Panels(g.N)
		if from, to := max(0, p0), min(n, p1); from < to {
			g.Block(r0, r1, from, to)
		}
		p0, p1 = p0-n, p1-n
	}
}

// Run computes all products on the calling goroutine.
func (j *Joint) Run() {
	n := j.Plan(1)
	for span := range j.Spans() {
		j.SetSpan(span)
		for i := range n {
			j.Chunk(i)
		}
	}
}
