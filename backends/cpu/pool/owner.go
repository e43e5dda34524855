package pool

import (
	"math"
	"sync/atomic"
	"time"
)

// Levels is the number of levels. A run waits in the level of its priority and gains one each time that its owner has
// had no thread for [Ageing], up to the highest. It keeps a gained level for [hold]: no level starves.
const Levels = 4

// Ageing is how long a waiting run's owner has no thread before the run gains a level.
const Ageing = 20 * time.Millisecond

const (
	// turn is how long a run waits before others that came later no longer overtake it, and how much of the threads' time
	// an owner that comes has in hand at most.
	turn = time.Millisecond
	// hold is how long a run that computes keeps a level that it has gained. Its thread may not have the CPU all the
	// while, and what is left of its work waits for its level again.
	hold = 3 * turn
	// grain and slice bound how much more than another an owner may have used before it makes room for that one: as much
	// as the other's runs take. An interrupted run loses its place in caches, and has to be woken again.
	grain, slice = turn / 2, 4 * turn
	// wakes is about how long it takes to wake a thread that sleeps in the operating system, and a goroutine on it.
	wakes = 100 * time.Microsecond
	// look is how often a run looks between chunks whether others go first.
	look = 50 * time.Microsecond
)

// accounts has an account per owner.
type accounts struct {
	owners  map[ownerKey]*owner
	granted time.Duration // the highest used of an owner when a run of it was let in
	turns   uint64        // runs that were let in while others waited
}

// ownerKey names an owner in a level.
type ownerKey struct {
	of    any
	level int
}

// owner is whoever runs of one level belong to. Time counts only while runs wait, so that a pool with room for all
// reads no clock.
type owner struct {
	key    ownerKey
	runs   int           // that are not released
	busy   int           // that wait or compute
	used   time.Duration // time of threads; one that comes back begins not far below those who are there
	turn   uint64        // number of the last turn
	served time.Duration // when a run last had a thread while others waited
	usual  atomic.Int64  // of a run of it of late, about, in ns; changed with mu held
}

// lead is how much more than o another owner may have used before it makes room for a run of o.
func (o *owner) lead() time.Duration { return min(max(grain, time.Duration(o.usual.Load())), slice) }

// debt is how much more than the least of the others o counts as having used at most. What a long chunk, or a machine
// that was slow for a moment, has cost beyond that does not keep it waiting.
func (o *owner) debt() time.Duration { return o.lead() + slice }

// account returns the account for a new run. mu is held.
func (a *accounts) account(of any, level int) *owner {
	key := ownerKey{of, level}
	if of == nil {
		return &owner{key: key, runs: 1}
	}
	o := a.owners[key]
	if o == nil {
		if a.owners == nil {
			a.owners = map[ownerKey]*owner{}
		}
		o = &owner{key: key}
		a.owners[key] = o
	}
	o.runs++
	return o
}

// drop ends a run's share of an account. mu is held.
func (a *accounts) drop(o *owner) {
	if o.runs--; o.runs == 0 && o.key.of != nil {
		delete(a.owners, o.key)
	}
}

// arrive opens the accounts of those that compute when a run has to wait, which is r. mu is held.
func (p *Pool) arrive(r *Run) {
	for i := range p.slots {
		if s := p.slots[i].Load(); s != nil && !s.timed {
			s.timed, s.from = true, r.since
		}
	}
	p.present(r.owner)
}

// present notes that a run of o waits or computes. mu is held.
func (p *Pool) present(o *owner) {
	if o.busy++; o.busy == 1 {
		o.used = max(o.used, p.granted-turn)
	}
}

// open begins to charge r if others wait. mu is held.
func (p *Pool) open(r *Run) {
	r.level, r.timed = r.priority.Load(), false
	p.present(r.owner)
	if len(p.queue) == 0 {
		return
	}
	now := p.clock()
	if r.queued {
		r.level, r.keeps = r.levelAt(now), now+hold
		if len(p.queue) == 1 {
			return
		}
	}
	r.timed, r.from = true, now
	p.turns++
	r.owner.turn, r.owner.served = p.turns, now
	p.granted = max(p.granted, r.owner.used)
}

// awake begins the time of a run that was let in while it slept: on a busy machine waking takes longer than a turn.
// mu is held.
func (r *Run) awake() {
	now := r.pool.clock()
	r.keeps = now + hold
	if r.timed {
		r.from = now
	}
}

// charge ends what open has begun. mu is held.
func (p *Pool) charge(r *Run) {
	r.owner.busy--
	if r.timed {
		now := p.clock()
		r.owner.used = min(r.owner.used+now-r.from, p.least(r.owner)+r.owner.debt())
		r.owner.served = now
		r.took += now - r.from
	}
}

// least is the time that the other owner of o's level with the least has used, of those that wait or compute; more
// than any uses if there is none. mu is held.
func (p *Pool) least(o *owner) time.Duration {
	least := time.Duration(math.MaxInt64 >> 1)
	count := func(r *Run) {
		if other := r.owner; other != o && other.key.level == o.key.level {
			least = min(least, other.used)
		}
	}
	for _, r := range p.queue {
		count(r)
	}
	for i := range p.slots {
		if r := p.slots[i].Load(); r != nil {
			count(r)
		}
	}
	return least
}

// learn notes at the end of a run how much time it has used. The time of a run that others waited for is known in part
// alone, so that a lower number counts less. mu is held.
func (r *Run) learn() {
	if r.took > 0 {
		r.owner.usual.Store(max(int64(r.took), r.owner.usual.Load()/2))
		r.took = 0
	}
}

// usedAt returns the time that the owner of a computing run has used, with this run. mu is held.
func (r *Run) usedAt(now time.Duration) time.Duration {
	if !r.timed {
		return r.owner.used
	}
	return r.owner.used + now - r.from
}

// heldAt is the level of a run that computes. mu is held.
func (r *Run) heldAt(now time.Duration) int64 {
	if now >= r.keeps {
		return r.priority.Load()
	}
	return r.level
}

// levelAt is the level of a queued run. mu is held.
func (r *Run) levelAt(now time.Duration) int64 {
	l := r.priority.Load()
	if waited := now - max(r.since, r.owner.served); waited >= Ageing {
		l = max(l, min(l+int64(waited/Ageing), Levels-1))
	}
	return l
}

// overdue reports whether a queued run has waited for a turn.
func (p *Pool) overdue(r *Run, now time.Duration) bool { return now-r.since >= turn }

// first is the run of the queue that goes before the others: of the highest level, of the owner that has used least,
// or else had its last turn before the others; of one owner the run that waits longest. mu is held.
func (p *Pool) first(now time.Duration) *Run {
	best := p.queue[0]
	level := best.levelAt(now)
	for _, r := range p.queue[1:] {
		l := r.levelAt(now)
		if l > level || l == level && r.before(best) {
			best, level = r, l
		}
	}
	return best
}

func (r *Run) before(other *Run) bool {
	a, b := r.owner, other.owner
	switch {
	case a == b:
		return r.seq < other.seq
	case a.used != b.used:
		return a.used < b.used
	case a.turn != b.turn:
		return a.turn < b.turn
	}
	return r.seq < other.seq
}

// overtakes reports whether r, which is awake, may take a thread before the first of the queue. mu is held.
func (p *Pool) overtakes(r, first *Run, now time.Duration, patient bool) bool {
	mine := r.priority.Load()
	if r.queued {
		mine = r.levelAt(now)
	}
	if theirs := first.levelAt(now); theirs != mine {
		return mine > theirs
	}
	return patient || !p.overdue(first, now) && (r.owner == first.owner || r.owner.used-first.owner.used <= grain)
}
