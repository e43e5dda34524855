package kernel

// tileArgs are the operands of one call of a microkernel.
type tileArgs struct {
	m, cols, k    int
	a             []float32
	lda           int
	b             []float32
	ldb           int // floats from one row of the packed panel to the next
	c             []float32
	ldc           int
	bias, res     []float32
	ldr           int
	lo, hi        float32
	after         bool
	row           int // first row, for the table of an indirect product
	ind           *Indirection
	tap, taps     int // of ind: first and number
	zero          []float32
	maxRowsAtOnce int
	pair          int       // floats from a panel to the next, when two are computed at once
	next          []float32 // what the next panel reads of B, to be fetched meanwhile
	afterNext     []float32 // alike, of the one after that
	fetchStep     int       // values of it that four steps of k fetch
}

// fetchRows is the number of rows, in blocks of mr, that fetches the next panel
// while it computes this one; 0 when there is nothing to fetch.
func (t *tileArgs) fetchRows(mr int) int {
	return ceilDiv(len(t.next), max(1, t.fetched(1))) * mr
}

// fetched is the number of values that a number of blocks fetches of the next
// panels.
func (t *tileArgs) fetched(blocks int) int {
	return blocks * max(1, t.taps) * (t.k / 4) * t.fetchStep
}

// setFetchStep spreads the fetching over the rows as evenly as its steps allow.
func (t *tileArgs) setFetchStep(mr int) {
	t.fetchStep = 16
	if t.cols > PanelCols && t.fetched(ceilDiv(t.m, mr)) < len(t.next)+len(t.afterNext) {
		t.fetchStep = 32
	}
}
