package devices

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/anynpu/anynpu/backends/dl"
	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/capi/anynpu"
	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/spec"
)

func init() {
	for i := range dl.APIs {
		a := &dl.APIs[i]
		if a.Alone {
			continue
		}
		boundary.Decide(a.Name, func() (boundary.State, error) { return decide(a) })
	}
}

// candidates are the drivers that are named here, found at the first call of an API that can have one. Each is changed
// where its own API's driver is found alone.
var candidates = sync.OnceValue(func() []*dl.Candidate {
	list := dl.List(options())
	for _, c := range list {
		if c.Status != dl.Usable {
			tell(c)
		}
	}
	return list
})

func options() dl.Options {
	return dl.Options{Getenv: boundary.Getenv, Version: anynpu.Version, Helper: helper, Run: runHelper}
}

// helper returns the helper program beside this library, in the folder of its stubs or above, "" if there is none. The
// dynamic loader says where that is, and answers only when no other thread opens a library: a driver that is slow to
// open must not stop an API that has none.
func helper() string { return program(dl.HelperName) }

// program returns a program beside this library, as helper does.
func program(name string) string {
	own, err := filepath.EvalSymlinks(boundary.OwnFile())
	if err != nil {
		return ""
	}
	folder := filepath.Dir(own)
	for _, at := range []string{folder, filepath.Join(folder, "anynpu"), filepath.Dir(folder)} {
		if path, err := filepath.Abs(filepath.Join(at, name)); err == nil && isFile(path) {
			return path
		}
	}
	return ""
}

// tell writes why a driver is not used, at a level that is shown unless its manifest is for other machines.
func tell(c *dl.Candidate) {
	level := boundary.LevelError
	if c.Status == dl.Skipped {
		level = boundary.LevelInfo
	}
	boundary.Log(level, "boundary", "driver not used [device-driver-used]", "file", c.Source, "why", c.Reason)
}

// vendor is the driver of an API that is used.
type vendor struct {
	*dl.Candidate
	lib *driver.Library
}

// vendors are found and opened once, at the first call that may need one.
var vendors = func() map[string]func() *vendor {
	found := map[string]func() *vendor{}
	for i := range dl.APIs {
		a := &dl.APIs[i]
		if a.Alone {
			continue
		}
		found[a.Name] = sync.OnceValue(func() *vendor { return firstOf(a) })
	}
	return found
}()

// firstOf returns the first driver of an API that can be opened, nil if there is none or settings forbid it.
func firstOf(a *dl.API) *vendor {
	if settingOf(a) == dl.ToCPU {
		return nil
	}
	for _, c := range candidates() {
		if c.API != a.Name || c.Status != dl.Usable {
			continue
		}
		lib, err := open(c)
		if err != nil {
			c.Status, c.Reason = dl.Refused, err.Error()
			tell(c)
			continue
		}
		return &vendor{c, lib}
	}
	return nil
}

// settingOf reads an API's setting, and tells of one that is none.
func settingOf(a *dl.API) dl.Setting {
	setting, wrong := a.Set(boundary.Getenv)
	if wrong != "" {
		boundary.Caution(a.Name, "value ignored [device-value-ignored]", "ANYNPU_"+strings.ToUpper(a.Name), wrong,
			"want", a.Settings())
	}
	return setting
}

// passes says whether the calls of its own API go to a driver.
func passes(a *dl.API, c *dl.Candidate) bool {
	setting, _ := a.Set(boundary.Getenv)
	return setting == dl.ToDriver || setting == dl.Auto && c.Mode != dl.ModeDevice
}

// decide chooses the state of an API: that of a driver that can be opened, if there is one and settings allow.
func decide(a *dl.API) (boundary.State, error) {
	v := vendors[a.Name]()
	if v == nil {
		if setting, _ := a.Set(boundary.Getenv); setting == dl.ToDriver {
			boundary.Log(boundary.LevelError, "boundary", "no driver can be used, this library computes itself; anynpu drivers "+
				"lists them [device-no-driver-used]", "ANYNPU_"+strings.ToUpper(a.Name), setting)
		}
		return boundary.CPU, nil
	}
	boundary.SetDriver(a.Name, v.File, v.lib.Addresses())
	if !passes(a, v.Candidate) {
		return boundary.Device, nil
	}
	if v.Table {
		level := boundary.LevelWarn
		if setting, _ := a.Set(boundary.Getenv); setting == dl.ToDriver {
			level = boundary.LevelError
		}
		boundary.Log(level, "boundary", "the driver takes no calls, it is a device alone "+
			"[device-driver-takes-no]", "file", v.File, "why",
			"its functions are in the table of "+a.Table.Function)
		return boundary.Device, nil
	}
	boundary.Instead(a.Name, "ANYNPU_"+strings.ToUpper(a.Name)+"=device")
	return boundary.PassThrough, nil
}

// open opens a driver, after another program has.
func open(c *dl.Candidate) (*driver.Library, error) {
	c.Probe(options())
	if c.Status != dl.Usable {
		return nil, fault.New(fault.File, "%s [device-driver-refused]", c.Reason)
	}
	caller, facade, _ := boundary.DriverCaller(c.API)
	opening := driver.Opening{Caller: caller, Facade: facade, Getenv: boundary.Getenv}
	var opened *driver.Opened
	var err error
	boundary.Brought(func() { opened, err = opening.Open(c.File) })
	if err != nil {
		return nil, err
	}
	for _, note := range opened.Notes {
		boundary.Log(boundary.LevelWarn, "boundary", "driver [device-driver-note]", "file", c.File, "note", note)
	}
	a, _ := dl.Find(c.API)
	lookup, table, err := opening.Functions(opened, a)
	if err != nil {
		return nil, err
	}
	c.Table = table
	l := driver.Bind(c.File, spec.Functions(c.API), lookup)
	l.Through(caller, facade)
	boundary.Know(c.API, l.Addresses())
	boundary.Log(boundary.LevelInfo, "boundary", "driver opened", "api", c.API, "file", c.File, "functions",
		len(l.Addresses()), "missing", l.Missing(), "table", table)
	return l, nil
}

// runHelper is the dl.Runner of a guest: the host sees no child.
func runHelper(argv, environment []string, limit time.Duration) (dl.Outcome, error) {
	end, err := boundary.RunHelper(argv, environment, limit)
	return dl.Outcome{Exit: end.Exit, Signal: end.Signal, TimedOut: end.TimedOut, Output: end.Output}, err
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}
