package hb

import "sync"

// A Limit counts the tasks of a kind that are not released.
type Limit struct {
	Most int

	mu    sync.Mutex
	alive int
}

// admit counts a new task.
func (l *Limit) admit(a *API) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.alive >= l.Most {
		return Refuse(ManyTasks, "%d tasks are not released: %s ends one that is done "+
			"[hb-tasks-released-ends]", l.alive, a.Release)
	}
	l.alive++
	return nil
}

// dismiss counts a task no more.
func (l *Limit) dismiss() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.alive--
}
