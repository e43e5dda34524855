package trace

import "fmt"

// await has the program wait for the callbacks that other threads have called.
func (p *printer) await(t int) {
	if t != 0 || len(p.stack[0]) > 0 {
		return
	}
	for _, cb := range p.order {
		if n := p.waits[cb]; n > 0 {
			p.line(t, "wait_for(&%s_done, %d);", cb.name, n)
			p.waits[cb] = 0
		}
	}
}

func (p *printer) enter(t int, e Event) {
	cb := p.callbacks[e.Bits]
	if cb == nil {
		return
	}
	p.stack[t] = append(p.stack[t], cb)
	fmt.Fprintf(&cb.cases, "  case %d:\n", cb.n)
	cb.n++
	for i, a := range e.Args {
		if p.region(a.Bits) == nil {
			p.name(t, a.Bits, 0, fmt.Sprintf("(void *)(uintptr_t)a%d", i))
		}
	}
}

func (p *printer) leave(t int, e Event) {
	s := p.stack[t]
	if len(s) == 0 {
		return
	}
	cb := s[len(s)-1]
	fmt.Fprintf(&cb.cases, "    result = %s;\n    break;\n", number("int", e.Bits))
	p.stack[t] = s[:len(s)-1]
	if t != 0 {
		p.waits[cb] = cb.n
	}
}

func (p *printer) join() {
	p.inFork = false
	for i := range p.forked {
		p.line(0, "pthread_create(&threads[%d], NULL, thread%d_%d, NULL);", i, len(p.bodies), i)
	}
	for i := range p.forked {
		p.line(0, "pthread_join(threads[%d], NULL);", i)
	}
	var all []string
	for _, t := range p.forked {
		all = append(all, p.threads[t].String())
	}
	p.bodies = append(p.bodies, all)
}
