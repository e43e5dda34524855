package semantics

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/conformance/suite"
)

// group is the cases that share processes.
type group struct {
	suite   *suite.Suite
	mode    suite.Mode
	setting []string
	ids     []string
}

func (g *group) String() string {
	s := g.suite.API.Name + " " + g.suite.Name
	if g.mode.Name != "" {
		s += " (" + g.mode.Name + ")"
	}
	return s
}

// groups lists the cases of all suites, of each mode and setting, but those that take long.
func groups(suites []*suite.Suite) ([]*group, error) {
	var out []*group
	for _, s := range suites {
		modes := s.Modes
		if len(modes) == 0 {
			modes = []suite.Mode{{}}
		}
		for _, m := range modes {
			items, err := s.Cases(m.Name)
			if err != nil {
				return nil, err
			}
			var own []*group
			for _, item := range items {
				if item.Long {
					continue
				}
				i := slices.IndexFunc(own, func(g *group) bool { return slices.Equal(g.setting, item.Setting) })
				if i < 0 {
					i = len(own)
					own = append(own, &group{suite: s, mode: m, setting: item.Setting})
				}
				own[i].ids = append(own[i].ids, item.ID)
			}
			out = append(out, own...)
		}
	}
	return out, nil
}

// child is a process that computes cases of a group with a mutant on, 0 for none.
type child struct {
	process *suite.Process
	alive   bool // it can compute another case

	file    string
	reached []byte // by number of mutant
	folder  string // for cases
	cases   int
}

// errUnusable says that the library cannot be opened, or does not answer.
var errUnusable = errors.New("the suite cannot use the library")

// start starts a child.
func (t *Trial) start(g *group, mutant int) (*child, error) {
	c := &child{}
	if err := c.share(t.Folder, len(t.Mutants)+1); err != nil {
		return nil, err
	}
	var err error
	if c.folder, err = os.MkdirTemp("", "anynpu-mutants-"); err != nil {
		return nil, err
	}
	cmd := t.Child(g.suite, filepath.Join(t.Folder, "lib", g.suite.API.Soname), g.mode.Name)
	cmd.Env = slices.Concat(cmd.Environ(), g.suite.Environ, g.mode.Environ, g.setting,
		[]string{"ANYNPU_MUTANT_ON=" + strconv.Itoa(mutant), "ANYNPU_MUTANT_REACHED=" + c.file})
	if c.process, _, err = suite.StartProcess(context.Background(), cmd, startLimit); err != nil {
		c.stop()
		return nil, fmt.Errorf("%s: %w: %v", g, errUnusable, err)
	}
	c.alive = true
	return c, nil
}

// share makes the file in which the library notes the mutants that it comes past.
func (c *child) share(folder string, size int) error {
	f, err := os.CreateTemp(folder, "reached-")
	if err != nil {
		return err
	}
	defer f.Close()
	c.file = f.Name()
	if err := f.Truncate(int64(size)); err != nil {
		return err
	}
	c.reached, err = unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	return err
}

// compute returns the result of a case. After a crash or a hang the child is of no use any more.
func (c *child) compute(id string, limit time.Duration) (suite.Result, error) {
	c.cases++
	dir := filepath.Join(c.folder, strconv.Itoa(c.cases))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return suite.Result{}, err
	}
	var r suite.Result
	r, c.alive = c.process.Compute(suite.Task{ID: id, Dir: dir}, limit)
	return r, nil
}

// take returns the mutants that the library has come past since the last call.
func (c *child) take() []int {
	var out []int
	for i, b := range c.reached {
		if b != 0 && i > 0 {
			out = append(out, i)
		}
	}
	clear(c.reached)
	return out
}

func (c *child) stop() {
	if c == nil { // it was not started
		return
	}
	if c.alive {
		c.process.Stop(startLimit) // its results are in
	} else if c.process != nil {
		c.process.Kill()
	}
	unix.Munmap(c.reached) //nolint:errcheck // the mapping is ours
	os.Remove(c.file)
	os.RemoveAll(c.folder)
}
