package hb

import (
	"container/heap"
	"runtime"
	"sync"
	"time"

	"github.com/anynpu/anynpu/capi/devices"
)

// queue orders tasks by priority, then by customId, then as they were submitted, and runs as many side by side as
// processors compute. Those of the highest priority run at once, beyond that number. A task that has waited for
// Patience goes before all others, one for each Ageing, and beyond that number if those have the places: no priority
// starves.
var queue taskQueue

const (
	// Patience is how long a task waits before its priority no longer counts.
	Patience = time.Second
	// Ageing is at least between two tasks whose priorities do not count.
	Ageing = 100 * time.Millisecond
)

type taskQueue struct {
	mu      sync.Mutex
	ready   taskHeap
	count   uint64 // tasks that were submitted
	running int
	urgent  int              // of them, those of the highest priority
	aged    time.Time        // when a task last went first for its patience
	clock   func() time.Time // nil: time.Now
}

func (q *taskQueue) now() time.Time {
	if q.clock != nil {
		return q.clock()
	}
	return time.Now()
}

// sideBySide is how many tasks run at once.
var sideBySide = sync.OnceValue(func() int { return min(runtime.NumCPU(), devices.Threads()) })

// Preemptive is the priority of tasks that begin at once.
const Preemptive = 255

// Pause takes all places, so that tasks wait for their turn until the function that it returns is called. It is for
// tests.
func Pause() (resume func()) {
	n := sideBySide()
	queue.mu.Lock()
	queue.running += n
	queue.mu.Unlock()
	return func() {
		for range n {
			queue.leave(nil)
		}
	}
}

// put queues a task, whose lock is held, and starts it if its turn has come.
func (q *taskQueue) put(t *Task) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.count++
	t.order, t.since = q.count, q.now()
	heap.Push(&q.ready, t)
	q.start()
}

// start begins tasks whose turn has come.
func (q *taskQueue) start() {
	for t := q.next(); t != nil; t = q.next() {
		q.running++
		t.turn.Store(turnCame)
		go func() {
			if t.take(turnTaken) {
				call := t.run()
				q.leave(t)
				call.make(t)
			}
		}()
	}
}

// next takes the task whose turn has come out of the queue, nil if none has. One of the highest priority is never held
// up. For one that has waited for Patience, places that those of the highest priority have count as free.
func (q *taskQueue) next() *Task {
	if len(q.ready) == 0 {
		return nil
	}
	if q.ready[0].Priority == Preemptive {
		q.urgent++
		return heap.Pop(&q.ready).(*Task)
	}
	now, full := q.now(), q.running >= sideBySide()
	if now.Sub(q.aged) >= Ageing && q.running-q.urgent < sideBySide() {
		if first := q.oldest(); now.Sub(q.ready[first].since) >= Patience && (first > 0 || full) {
			q.aged = now
			return heap.Remove(&q.ready, first).(*Task)
		}
	}
	if full {
		return nil
	}
	return heap.Pop(&q.ready).(*Task)
}

// oldest is the index of the task that was submitted before all others that wait.
func (q *taskQueue) oldest() (first int) {
	for i, t := range q.ready {
		if t.order < q.ready[first].order {
			first = i
		}
	}
	return first
}

// runHere computes a task on the caller's thread if its turn has come and no other thread computes it. The program's
// function is called on another thread, as always.
func (q *taskQueue) runHere(t *Task) {
	if !t.take(turnHere) {
		return
	}
	call := t.run()
	q.leave(t)
	if call.function != 0 {
		go call.make(t)
	}
}

// The turns of a task in the queue.
const (
	turnWaits = iota // for others
	turnCame         // a thread may take it
	turnTaken        // by a thread of the library
	turnHere         // by a call that waits for it
)

// take reports whether the caller is to compute the task: its turn has come, and no other thread took it.
func (t *Task) take(who int32) bool { return t.turn.CompareAndSwap(turnCame, who) }

// leave frees the place of a task that is done, or one that Pause has taken.
func (q *taskQueue) leave(t *Task) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running--
	if t != nil && t.Priority == Preemptive {
		q.urgent--
	}
	q.start()
}

// remove takes a task out of the queue and reports whether it was there.
func (q *taskQueue) remove(t *Task) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range q.ready {
		if q.ready[i] == t {
			heap.Remove(&q.ready, i)
			return true
		}
	}
	return false
}

// Ahead is the time in microseconds that the tasks take that wait and go before one of this order.
func Ahead(o Order) (us int64) {
	like := &Task{Order: o, order: ^uint64(0)}
	queue.mu.Lock()
	list := append(taskHeap{}, queue.ready...)
	queue.mu.Unlock()
	for _, t := range list {
		if t.before(like) {
			us += t.Estimate()
		}
	}
	return us / int64(sideBySide())
}

// before reports whether t goes before other (section 4).
func (t *Task) before(other *Task) bool {
	switch {
	case t.Priority != other.Priority:
		return t.Priority > other.Priority
	case t.Custom != other.Custom:
		return t.Custom < other.Custom
	}
	return t.order < other.order
}

// taskHeap is a heap whose first element goes first.
type taskHeap []*Task

func (h taskHeap) Len() int           { return len(h) }
func (h taskHeap) Less(i, k int) bool { return h[i].before(h[k]) }
func (h taskHeap) Swap(i, k int)      { h[i], h[k] = h[k], h[i] }

// Push adds an element at the end.
func (h *taskHeap) Push(x any) { *h = append(*h, x.(*Task)) }

// Pop removes the element at the end.
func (h *taskHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return t
}
