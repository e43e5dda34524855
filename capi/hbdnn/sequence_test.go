package hbdnn

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/capi/hb"
)

// specTask is a task as the documents let a program know it (section 4, section 11).
type specTask struct {
	handle   uintptr
	open     bool // its last member had more = 1
	members  int
	waited   bool // so that it is done
	released bool
}

// player plays a sequence of calls and demands the codes that the state machine gives.
type player struct {
	t     *testing.T
	o     *one
	tasks []*specTask
}

// codes are the allowed results of a call.
type codeSet []Code

func (p *player) demand(want codeSet, err error, what string) Code {
	p.t.Helper()
	got := Code(0)
	if err != nil {
		got = status(err)
	}
	require.True(p.t, slices.Contains(want, got), "%s: got %d (%v), want one of %v", what, got, err, want)
	return got
}

func (p *player) alive() (n int) {
	for _, s := range p.tasks {
		if !s.released {
			n++
		}
	}
	return n
}

// pick is one of the tasks, nil if there is none.
func (p *player) pick(b byte) *specTask {
	if len(p.tasks) == 0 {
		return nil
	}
	return p.tasks[int(b)%len(p.tasks)]
}

// begin submits the first member of a task.
func (p *player) begin(c InferCtrlParam) {
	want := codeSet{0}
	switch {
	case c.priority < 0 || c.priority > 255 || c.bpu < 0 || c.bpu > 3:
		want = codeSet{errArgument}
	case p.alive() >= 32:
		want = codeSet{errTasks}
	}
	task, err := start(p.o.m, p.o.in, p.o.out, &c)
	if p.demand(want, err, "begin") == 0 {
		require.NotZero(p.t, task)
		p.tasks = append(p.tasks, &specTask{handle: task, open: c.more == 1, members: 1})
	} else {
		require.Zero(p.t, task)
	}
}

// add submits another member.
func (p *player) add(s *specTask, c InferCtrlParam) {
	want := codeSet{0}
	switch {
	case c.priority < 0 || c.priority > 255 || c.bpu < 0 || c.bpu > 3:
		want = codeSet{errArgument}
	case s.released:
		want = codeSet{errTaskHandle}
	case !s.open:
		want = codeSet{errUse}
	case s.members >= 255:
		want = codeSet{errBatch}
	}
	task := s.handle
	if p.demand(want, startInto(&task, p.o.m, p.o.in, p.o.out, &c), "add") == 0 {
		s.members++
		s.open = c.more == 1
	}
	require.Equal(p.t, s.handle, task, "the handle stays")
}

func (p *player) wait(s *specTask, timeout int32) {
	want := codeSet{0}
	switch {
	case s.released:
		want = codeSet{errTaskHandle}
	case s.open:
		want = codeSet{errUse}
	case timeout > 0 && !s.waited:
		want = codeSet{0, errTimeout}
	}
	task, err := hb.HoldTask(s.handle)
	if err == nil {
		err = dnnWaitTaskDone(task, timeout)
		handle.Unhold(s.handle)
	}
	if p.demand(want, err, "wait") == 0 {
		s.waited = true
	}
}

func (p *player) release(s *specTask) {
	want := codeSet{0}
	if s.released {
		want = codeSet{errTaskHandle}
	}
	p.demand(want, dnnReleaseTask(s.handle), "release")
	s.released = true
}

// tryPack releases the models, which is refused while tasks need them, and gives the player others.
func (p *player) tryPack() {
	want := codeSet{0, errRunning}
	if slices.ContainsFunc(p.tasks, func(s *specTask) bool { return s.open && !s.released }) {
		want = codeSet{errRunning}
	} else if !slices.ContainsFunc(p.tasks, func(s *specTask) bool { return !s.waited }) {
		want = codeSet{0}
	}
	pack, err := handle.Of(p.o.m.Pack)
	require.NoError(p.t, err)
	if p.demand(want, dnnRelease(pack), "release the models") == 0 {
		p.o = ready(p.t, relu(1, 4))
	}
}

// play reads calls from bytes.
func play(t *testing.T, calls []byte) {
	p := &player{t: t, o: ready(t, relu(1, 4))}
	for len(calls) >= 3 {
		kind, a, b := calls[0], calls[1], calls[2]
		calls = calls[3:]
		c := InferCtrlParam{priority: int32(b) * 2, more: int32(a & 1), bpu: int32(a >> 1 & 7), custom: int64(b)}
		if b < 130 {
			c.priority, c.bpu = int32(b), int32(b&3)
		}
		s := p.pick(a)
		switch {
		case kind%8 < 2 || s == nil:
			p.begin(c)
		case kind%8 == 2:
			p.add(s, c)
		case kind%8 == 3:
			p.wait(s, 0)
		case kind%8 == 4:
			p.wait(s, 1)
		case kind%8 == 5 || kind%8 == 6:
			p.release(s)
		default:
			p.tryPack()
		}
	}
	for _, s := range p.tasks {
		if !s.released {
			p.release(s)
		}
	}
	for { // tasks that were released while they ran end in the background
		pack, err := handle.Of(p.o.m.Pack)
		require.NoError(t, err)
		if p.demand(codeSet{0, errRunning}, dnnRelease(pack), "release the models at the end") == 0 {
			return
		}
	}
}

func FuzzTasks(f *testing.F) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for n := range 40 {
		calls := make([]byte, 3*(5+10*n))
		for i := range calls {
			calls[i] = byte(rnd.Uint32())
		}
		f.Add(calls)
	}
	var many []byte
	for range 260 {
		many = append(many, 2, 1, 1) // one task of more members than a task may have
	}
	f.Add(many)
	var crowd []byte
	for range 40 {
		crowd = append(crowd, 0, 0, 1)
	}
	f.Add(crowd)
	f.Fuzz(play)
}
