package rknn

import "golang.org/x/sys/unix"

// onCaller has f called on the thread that runs the context.
func (c *Context) onCaller(f func() error) error {
	j := job{f, make(chan error, 1)}
	c.jobs <- j
	return <-j.done
}

// calling calls f, which calls the program, and remembers the thread: functions of the API that f's callee calls for
// this context must not wait for the call under way.
func (c *Context) calling(f func()) {
	c.thread.Store(int32(unix.Gettid()))
	defer c.thread.Store(0)
	f()
}

// inside says whether the caller is a function of the program that this context has called.
func (c *Context) inside() bool {
	t := c.thread.Load()
	return t != 0 && t == int32(unix.Gettid())
}

// notCopying refuses a call from an init function that a duplication of the context on this thread calls, and that
// would wait for its end.
func (c *Context) notCopying(name string) error {
	if c.copying.has() {
		return failed("%s: it is being duplicated, and this is a call from the init of one of the duplicate's "+
			"operators [rknn-being-duplicated-init]",
			name)
	}
	return nil
}

// lock locks the context for a call. A function of the program that the context has called gets an error.
func (c *Context) lock() error {
	if c.inside() {
		return failed("context: it is running, and this is a call from one of its operators: only rknn_query, " +
			"rknn_mem_sync and rknn_custom_op_get_op_attr may be called there [rknn-context-running-operators]")
	}
	c.mu.Lock()
	return nil
}
