package suite

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Progress tells how far a run is: on a terminal in one line that changes, else by a line now and then.
type Progress struct {
	To       io.Writer
	Terminal bool
	Every    time.Duration // between lines; 0: the usual time

	mu                sync.Mutex
	total, n, bad, no int
	at                string // the case that was done last
	start             time.Time
	stop              chan struct{}
	stopped           sync.WaitGroup
}

// How often a line is shown.
const (
	oftenOnTerminal = 200 * time.Millisecond
	oftenElsewhere  = 30 * time.Second
)

// begin shows lines until end.
func (p *Progress) begin(total int) {
	if p == nil {
		return
	}
	p.total, p.n, p.bad, p.no, p.at, p.start, p.stop = total, 0, 0, 0, "", time.Now(), make(chan struct{})
	often := p.Every
	if often == 0 {
		often = oftenElsewhere
		if p.Terminal {
			often = oftenOnTerminal
		}
	}
	p.stopped.Go(func() {
		tick := time.NewTicker(often)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				p.show()
			case <-p.stop:
				return
			}
		}
	})
}

// done counts a case of a suite.
func (p *Progress) done(suite string, d *done) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.n++
	p.at = suite + " " + d.ID
	switch {
	case d.Status.bad():
		p.bad++
	case d.Status == NotRun:
		p.no++
	}
}

func (p *Progress) show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := fmt.Sprintf("%d of %d cases, %d failed", p.n, p.total, p.bad)
	if p.no > 0 {
		text += fmt.Sprintf(", %d not run", p.no)
	}
	text += fmt.Sprintf(", %.0f s", time.Since(p.start).Seconds())
	if p.at != "" {
		text += ", last " + p.at
	}
	if p.Terminal {
		fmt.Fprintf(p.To, "\r\x1b[K%s", clip(text, 110))
		return
	}
	fmt.Fprintln(p.To, text)
}

// end takes the line away.
func (p *Progress) end() {
	if p == nil {
		return
	}
	close(p.stop)
	p.stopped.Wait()
	if p.Terminal {
		fmt.Fprint(p.To, "\r\x1b[K")
	}
}
