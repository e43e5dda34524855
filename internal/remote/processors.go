package remote

import (
	"runtime"
	"sync"
	"time"
)

// narrowAfter is how long calls come one by one before one processor is enough again.
const narrowAfter = time.Second

// processors has Go use one processor while calls come one by one. With more, Go wakes a thread to look for work
// whenever a goroutine can go on, which for a run takes longer than its work.
type processors struct {
	all int // 0: leave it

	mu    sync.Mutex
	under int // calls under way
	most  int // at once, since it was last looked at
	wide  bool
}

// OneByOne has the process use one processor while calls come one by one. It is for a program that does nothing else.
func OneByOne() {
	used.all = runtime.GOMAXPROCS(1)
}

var used processors

// begin counts a call.
func (p *processors) begin() {
	if p.all < 2 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.under++
	p.most = max(p.most, p.under)
	if p.under > 1 && !p.wide {
		p.wide = true
		runtime.GOMAXPROCS(p.all)
		time.AfterFunc(narrowAfter, p.look)
	}
}

func (p *processors) end() {
	if p.all < 2 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.under--
}

// look goes back to one processor if calls have come one by one since the last look.
func (p *processors) look() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.most > 1 {
		p.most = p.under
		time.AfterFunc(narrowAfter, p.look)
		return
	}
	p.wide = false
	runtime.GOMAXPROCS(1)
}
