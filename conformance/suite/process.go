package suite

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Task is what a child is told to do, a line of JSON.
type Task struct {
	ID     string `json:"id"`
	Dir    string `json:"dir"`              // an empty folder for the case, which the parent removes
	Record string `json:"record,omitempty"` // file to which the case's calls are written, "" for none
}

// answer is what a child writes, a line of JSON: first its greeting, then a result for each task. An error is the last
// thing that it writes.
type answer struct {
	Greeting *Greeting `json:"greeting,omitempty"`
	Result   *Result   `json:"result,omitempty"`
	Error    string    `json:"error,omitempty"`
}

// longest bounds an answer in bytes.
const longest = 1 << 20

// lost is how long a killed process may take to end before it is left to the system, and pause how long what an ended
// one has written may take to arrive.
const (
	lost  = 10 * time.Second
	pause = 200 * time.Millisecond
)

// Ended says how a process ended that should have gone on, or that it had to be killed.
type Ended struct {
	Status   Status // Crash, Hang, or NotRun: it was interrupted
	Message  string
	Signal   string // that ended the process, "" for none
	Function string // of the API that was called then, "" for none
}

func (e *Ended) Error() string { return e.Message }

// errUnusable is the error of a child that cannot judge the library, in its own words.
type errUnusable string

func (e errUnusable) Error() string { return string(e) }

// Process is a child that computes cases. It has descriptors of its own for tasks and answers: what the library writes
// to standard output or standard error is kept as its last words. No wait for it is without a limit.
type Process struct {
	cmd     *exec.Cmd
	ctx     context.Context
	tasks   *os.File
	answers chan []byte   // lines; closed when nobody can write any more
	ended   chan struct{} // closed when the process is gone and waited for
	words   words
	board   *board
	killed  atomic.Bool
}

// StartProcess starts a child that serves, and waits for its greeting. An error of type *Ended says how loading the
// library ended, any other one that the child cannot be started or cannot judge the library.
func StartProcess(ctx context.Context, cmd *exec.Cmd, limit time.Duration) (*Process, Greeting, error) {
	p := &Process{cmd: cmd, ctx: ctx, answers: make(chan []byte), ended: make(chan struct{})}
	if err := p.start(); err != nil {
		return nil, Greeting{}, err
	}
	a, ended := p.next(limit)
	switch {
	case ended != nil:
		p.close()
		return nil, Greeting{}, ended
	case a.Error != "":
		p.kill()
		p.close()
		return nil, Greeting{}, errUnusable(a.Error)
	case a.Greeting == nil:
		p.kill()
		p.close()
		return nil, Greeting{}, p.garbage("no greeting")
	}
	return p, *a.Greeting, nil
}

// start starts the process and what watches it.
func (p *Process) start() error {
	tasks, tasksOf, err := os.Pipe()
	if err != nil {
		return err
	}
	defer tasks.Close()
	answersOf, answers, err := os.Pipe()
	if err != nil {
		tasksOf.Close()
		return err
	}
	defer answers.Close()
	file, board, err := newBoard()
	if err != nil {
		tasksOf.Close()
		answersOf.Close()
		return err
	}
	defer file.Close()
	p.tasks, p.board = tasksOf, board
	p.cmd.ExtraFiles = []*os.File{tasks, answers, file} // descriptors 3, 4 and 5, see adopt
	p.cmd.Stdout, p.cmd.Stderr = &p.words, &p.words
	p.cmd.WaitDelay = pause // a child of the library's own may keep the pipe open
	// A group of its own, so that Ctrl-C is for this process to handle, and what the library forks can be ended.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		tasksOf.Close()
		answersOf.Close()
		board.close()
		return err
	}
	go p.read(answersOf)
	go p.wait(answersOf)
	return nil
}

// read hands on the lines that the child writes.
func (p *Process) read(from io.Reader) {
	defer close(p.answers)
	r := bufio.NewReaderSize(from, 64<<10)
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		whole := err == nil
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return // a line that ends early is one of a child that died
		}
		if whole || len(line) > longest {
			select {
			case p.answers <- line:
			case <-p.ended:
				select {
				case p.answers <- line:
				case <-time.After(2 * pause): // nobody asks any more
					return
				}
			}
			line = nil
		}
	}
}

// wait waits until the process has ended, ends what the library has left behind in its group, and then takes the
// process's number from the system.
func (p *Process) wait(answers io.Closer) {
	var info unix.Siginfo
	for unix.Waitid(unix.P_PID, p.cmd.Process.Pid, &info, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
		continue
	}
	syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // mostly there is nobody left
	p.cmd.Wait()                                      //nolint:errcheck // its state says how it ended
	close(p.ended)
	time.Sleep(pause) // what it wrote last is read meanwhile
	answers.Close()
}

// kill ends the process and waits until it is gone.
func (p *Process) kill() {
	p.killed.Store(true)
	select {
	case <-p.ended:
		return
	default:
	}
	p.cmd.Process.Kill() //nolint:errcheck // it may have ended
	select {
	case <-p.ended:
	case <-time.After(lost):
	}
}

// close gives back what the parent has of the process.
func (p *Process) close() {
	p.tasks.Close()
	p.board.close()
}

// next waits for an answer. It returns how the process ended if there is none; the process is gone then.
func (p *Process) next(limit time.Duration) (answer, *Ended) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	answers := p.answers
	for {
		select {
		case line, open := <-answers:
			if !open {
				answers = nil // it will end, or hang
				continue
			}
			return p.parse(line)
		case <-p.ended:
			select {
			case line, open := <-p.answers:
				if open {
					return p.parse(line)
				}
			case <-time.After(pause):
			}
			return answer{}, p.end()
		case <-p.ctx.Done():
			p.kill()
			return answer{}, &Ended{Status: NotRun, Message: interrupted}
		case <-timer.C:
			now := p.board.text()
			p.kill()
			function, where := now.at()
			return answer{}, &Ended{Status: Hang, Message: fmt.Sprintf("no end within %v %s", limit, where),
				Function: function}
		}
	}
}

// parse reads an answer.
func (p *Process) parse(line []byte) (a answer, ended *Ended) {
	if len(line) > longest || json.Unmarshal(line, &a) != nil {
		p.kill()
		return answer{}, p.garbage(clip(string(bytes.TrimSpace(line)), 60))
	}
	return a, nil
}

// garbage is how a process ends that wrote what is no answer.
func (p *Process) garbage(what string) *Ended {
	function, where := p.board.text().at()
	return &Ended{Status: Crash, Message: fmt.Sprintf("the library wrote to a descriptor of the suite %s: %q", where,
		what), Function: function}
}

// end tells how the process ended by itself.
func (p *Process) end() *Ended {
	function, where := p.board.text().at()
	said := p.words.take()
	e := &Ended{Status: Crash, Function: function}
	state := p.cmd.ProcessState
	var how string
	switch status, _ := state.Sys().(syscall.WaitStatus); {
	case said.signal != "":
		e.Signal, how = said.signal, said.signal
	case status.Signaled():
		e.Signal = unix.SignalName(status.Signal())
		how = e.Signal
	default:
		how = fmt.Sprintf("exit code %d", state.ExitCode())
	}
	e.Message = strings.TrimSpace(how + " " + where)
	if said.panicked != "" {
		e.Message += ": " + said.panicked
	} else if said.last != "" {
		e.Message += ": " + said.last
	}
	return e
}

// Compute returns the result of a case, and whether the process can compute another one.
func (p *Process) Compute(t Task, limit time.Duration) (Result, bool) {
	start := time.Now()
	if err := json.NewEncoder(p.tasks).Encode(t); err != nil {
		limit = min(limit, lost) // it has closed its descriptor: it will end
	}
	a, ended := p.next(limit)
	if ended == nil {
		switch r := a.Result; {
		case a.Error != "":
			p.kill()
			ended = &Ended{Status: Crash, Message: a.Error}
		case r == nil || r.ID != t.ID:
			p.kill()
			ended = p.garbage("a result of another case")
		default:
			return *r, true
		}
	}
	return Result{ID: t.ID, Status: ended.Status, Message: ended.Message, Signal: ended.Signal, Function: ended.Function,
		Time: time.Since(start)}, false
}

// Stop ends the process as a program ends, with what the library does then, and kills it if that takes longer than the
// limit. It returns nil, or how the end went wrong.
func (p *Process) Stop(limit time.Duration) *Ended {
	defer p.close()
	select {
	case <-p.ended: // with the case that was computed last
		return nil
	default:
	}
	p.tasks.Close()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-p.ctx.Done():
		p.kill()
		return nil
	case <-timer.C:
		p.kill()
		return &Ended{Status: Hang, Message: fmt.Sprintf("the process does not end within %v: what the library does at exit "+
			"hangs", limit)}
	}
	if state := p.cmd.ProcessState; !p.killed.Load() && !state.Success() {
		e := p.end()
		e.Message = "the process ended badly: " + e.Message
		return e
	}
	return nil
}

// Kill ends the process at once.
func (p *Process) Kill() {
	p.kill()
	p.close()
}

// interrupted is why cases were not run.
const interrupted = "the run was interrupted"

// clip is text of at most so many bytes.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return fmt.Sprintf("%s... (%d bytes more)", strings.ToValidUTF8(text[:most], ""), len(text)-most)
}
