package ohnn

// executorDestroy ends asynchronous runs, whose callbacks are called with Failed, and waits for them. Memory objects
// that the program has not destroyed stay valid and cannot be freed any more.
func executorDestroy(e *Executor) error {
	e.stopAsync()
	e.compiled.release()
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range e.outputs {
		e.outputs[i].c.Free()
	}
	for i := range e.ranges {
		e.ranges[i].min.Free()
		e.ranges[i].max.Free()
	}
	e.legacy.release()
	if n := memories.of(e); n > 0 {
		warn("memory lost [ohnn-memory-lost]", "function", "OH_NNExecutor_Destroy", "objects", n, "remedy",
			"destroy input and output memory before the executor")
	}
	return nil
}
