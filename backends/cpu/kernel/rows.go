package kernel

// rowChunks are rows divided into chunks of even height: with a multiple of the
// threads' number of them, every thread has the same part of the rows of each step.
type rowChunks struct{ rows, chunks int }

// bounds are the first row of chunk i and that after its last.
func (c rowChunks) bounds(i int) (from, to int) {
	return i * c.rows / c.chunks, (i + 1) * c.rows / c.chunks
}

// divideRows is splitRows with chunks of even height.
func divideRows(rows, flops, threads int) rowChunks {
	_, chunks := splitRows(rows, flops, threads)
	if chunks > 1 {
		chunks = min(rows, roundUp(chunks, max(1, threads)))
	}
	return rowChunks{rows, chunks}
}

// splitRows divides rows of the given work into chunks of tens of microseconds,
// and into several per thread while they stay worth a handover.
func splitRows(rows, flops, threads int) (step, chunks int) {
	if rows == 0 {
		return 1, 0
	}
	step = max(1, min(rows, 2<<20/max(1, flops)))
	if threads > 1 {
		for step > 1 && ceilDiv(rows, step) < 4*threads && step*flops > 1<<17 {
			step = (step + 1) / 2
		}
	}
	return step, ceilDiv(rows, step)
}
