package suite

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/conformance/suite/cmem"
	"github.com/anynpu/anynpu/conformance/suite/trace"
)

// Serve is what a child process does: it opens the library, writes its Greeting, then reads tasks, computes the case of
// each in a mode and writes its Result. When there are no more tasks it ends the process as a C program ends, and does
// not return.
func (s *Suite) Serve(library, mode string) error {
	runtime.LockOSThread() // a message belongs to the thread whose call failed
	defer runtime.UnlockOSThread()
	p, err := adopt()
	if err != nil {
		return err
	}
	l, err := Open(s.API, library)
	if err != nil {
		return p.fail(err)
	}
	l.calls.board = p.board
	l.exchange = exchanged()
	greeting, err := l.greet()
	if err != nil {
		return p.fail(err)
	}
	if err := p.serve(greeting, l.probing(l.placing(l.recorded(s.Open(l, mode))))); err != nil {
		return err
	}
	exit, err := purego.Dlsym(purego.RTLD_DEFAULT, "exit")
	if err != nil {
		return err
	}
	purego.SyscallN(exit, 0)
	return errors.New("exit returned")
}

// ServeCases is Serve of a stand-in for a library: compute gives the results. It returns when there are no more tasks.
func ServeCases(greeting Greeting, compute func(Task) (Result, error)) error {
	p, err := adopt()
	if err != nil {
		return err
	}
	return p.serve(greeting, compute)
}

// parent is what a child has of the process that started it.
type parent struct {
	tasks   *bufio.Reader
	answers *json.Encoder
	board   *board
	pid     int    // of the child; one that the library forks has no say
	folder  string // current one when the child began
}

// apart is the lowest number of the suite's own descriptors, as high as the system allows within reason: a library that
// closes or writes to those that it thinks its own gets not that far.
func apart() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 10
	}
	return max(10, int(min(limit.Cur, 16<<10))-64)
}

// adopt takes the descriptors that Process hands over, before anything of a library runs.
func adopt() (*parent, error) {
	var files [3]*os.File
	for i := range files {
		fd, err := unix.FcntlInt(uintptr(3+i), unix.F_DUPFD_CLOEXEC, apart())
		if err != nil {
			return nil, fmt.Errorf("descriptor %d is not the suite's: this process is only started by conformance: %w", 3+i, err)
		}
		unix.Close(3 + i) //nolint:errcheck // it is open: it was duplicated
		files[i] = os.NewFile(uintptr(fd), "suite")
	}
	// A crash is a result: what the system would write to a file about it is of no use.
	unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) //nolint:errcheck // then there are such files
	b, err := mapBoard(int(files[2].Fd()))
	if err != nil {
		return nil, err
	}
	files[2].Close()
	folder, err := os.Getwd()
	return &parent{tasks: bufio.NewReader(files[0]), answers: json.NewEncoder(files[1]), board: b, pid: os.Getpid(),
		folder: folder}, err
}

// tell writes an answer. A process that is a copy of the child ends here.
func (p *parent) tell(a answer) error {
	if os.Getpid() != p.pid {
		os.Exit(0)
	}
	return p.answers.Encode(a)
}

// fail tells that the library cannot be judged.
func (p *parent) fail(err error) error {
	p.tell(answer{Error: clip(err.Error(), mostText)}) //nolint:errcheck // the error says more
	return err
}

// mostText bounds texts of results in bytes: a library may give one without end.
const mostText = 4 << 10

func (p *parent) serve(greeting Greeting, compute func(Task) (Result, error)) error {
	greeting.Device, greeting.Version = clip(greeting.Device, mostText), clip(greeting.Version, mostText)
	p.board.phase(between)
	if err := p.tell(answer{Greeting: &greeting}); err != nil {
		return err
	}
	for {
		line, err := p.tasks.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			p.board.phase(ending)
			return nil
		}
		var t Task
		if err == nil {
			err = json.Unmarshal(line, &t)
		}
		if err == nil && p.folder != "" {
			err = os.Chdir(p.folder) // the library may have gone elsewhere
		}
		if err != nil {
			return p.fail(err)
		}
		p.board.phase(computing)
		start := time.Now()
		r, err := compute(t)
		if err != nil {
			return p.fail(err)
		}
		p.board.phase(between)
		r.ID, r.Time = t.ID, time.Since(start)
		r.Message, r.Refusal = clip(r.Message, mostText), clip(r.Refusal, mostText)
		if err := p.tell(answer{Result: &r}); err != nil {
			return err
		}
	}
}

// recorded computes a case with a record of its calls in a file, if the task names one.
func (l *Library) recorded(compute Computer) func(Task) (Result, error) {
	return func(t Task) (Result, error) {
		if t.Record == "" {
			return compute(t.ID, t.Dir)
		}
		f, err := os.Create(t.Record)
		if err != nil {
			return Result{}, err
		}
		defer f.Close()
		rec, err := trace.NewRecorder(f, t.ID, t.Dir)
		if err != nil {
			return Result{}, err
		}
		cmem.Watch(rec)
		l.calls.recorder = rec
		record(rec)
		defer func() {
			recording.Store(nil)
			l.calls.recorder = nil
			cmem.Watch(nil)
		}()
		r, err := compute(t.ID, t.Dir)
		rec.Close(string(r.Status), r.Message)
		return r, err
	}
}

// Judge is the result of a case that passed when violated is nil.
func Judge(violated error) Result {
	var l lacking
	if errors.As(violated, &l) {
		return Result{Status: Skip, Message: string(l)}
	}
	if violated != nil {
		return Result{Status: Fail, Message: violated.Error()}
	}
	return Result{Status: Pass}
}
