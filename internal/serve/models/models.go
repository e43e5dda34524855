// Package models keeps the models of a folder that a server computes: finds them, loads and unloads them, and gives
// each version a queue.
//
// DIR/NAME.onnx is version 1 of the model NAME; DIR/NAME/3/FILE is version 3 of it, FILE the only model in that folder,
// as other inference servers lay their models out. Any other file that the devices load stands as an ONNX file does.
package models

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/internal/oip"
	"github.com/anynpu/anynpu/internal/serve/queue"
)

// What Find and Load return for models that cannot be computed.
var (
	ErrUnknown  = errors.New("no such model")
	ErrNotReady = errors.New("the model is not loaded")
)

// Config says where the models are and how they are made ready.
type Config struct {
	Dir   string
	Known func(path string) bool // whether a file is a model, by its first bytes
	// Open loads and compiles the model at path; its caller gets the only reference.
	Open  func(ctx context.Context, path string) (device.Program, error)
	Queue queue.Config
	Log   func(text string) // is told what becomes of models
}

// The states of a version, as the index names them.
const (
	Ready       = "READY"
	Unavailable = "UNAVAILABLE"
	Loading     = "LOADING"
	Unloading   = "UNLOADING"
)

// Version is a model that is loaded.
type Version struct {
	Name     string
	Number   int
	Path     string
	In, Out  []device.Port
	Metadata oip.Model // Versions are those of the repository at the time of Find
	*queue.Queue
}

// Entry is a line of the index.
type Entry struct {
	Name, Version, State, Reason string
}

// Repository holds the models of a folder. All methods are safe for concurrent use.
type Repository struct {
	config Config
	loads  sync.Mutex // one model at a time is loaded or unloaded

	life context.Context // ends what closed versions still compute
	stop context.CancelFunc
	old  sync.WaitGroup // versions that are being closed

	mu     sync.Mutex
	models map[string]map[int]*slot // by name and version
	closed bool
}

// slot is what is known of a version that is, or was to be, loaded.
type slot struct {
	version *Version // nil: none computes
	state   string
	reason  string // why not
}

// New returns a repository without models.
func New(c Config) *Repository {
	r := &Repository{config: c, models: map[string]map[int]*slot{}}
	r.life, r.stop = context.WithCancel(context.Background())
	return r
}

// Find returns a version that is loaded; version "" is the one with the highest number. ErrUnknown, ErrNotReady.
func (r *Repository) Find(name, version string) (*Version, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	slots := r.models[name]
	if len(slots) == 0 {
		return nil, refusal(ErrUnknown, "Request for unknown model: %q is not found", name)
	}
	if version != "" {
		n, ok := number(version)
		s := slots[n]
		switch {
		case !ok || s == nil:
			return nil, refusal(ErrUnknown, "Request for unknown model: %q version %q is not found", name, version)
		case s.version == nil:
			return nil, refusal(ErrNotReady, "Request for model %q version %s, which is not ready: %s", name, version,
				cmp.Or(s.reason, s.state))
		}
		return s.version, nil
	}
	why := ""
	for _, n := range numbers(slots) {
		if v := slots[n].version; v != nil {
			return v, nil
		}
		why = cmp.Or(why, slots[n].reason, slots[n].state)
	}
	return nil, refusal(ErrNotReady, "Request for model %q, which is not ready: %s", name, why)
}

// numbers are the versions, the highest first.
func numbers(slots map[int]*slot) []int {
	return slices.SortedFunc(maps.Keys(slots), func(a, b int) int { return b - a })
}

// Versions returns the versions of a model that are loaded, the lowest first.
func (r *Repository) Versions(name string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := []string{}
	for _, n := range slices.Sorted(maps.Keys(r.models[name])) {
		if r.models[name][n].version != nil {
			list = append(list, strconv.Itoa(n))
		}
	}
	return list
}

// Each calls f for every version that is loaded, in the order of names and versions.
func (r *Repository) Each(f func(v *Version)) {
	r.mu.Lock()
	var all []*Version
	for _, slots := range r.models {
		for _, s := range slots {
			if s.version != nil {
				all = append(all, s.version)
			}
		}
	}
	r.mu.Unlock()
	slices.SortFunc(all, func(a, b *Version) int { return cmp.Or(cmp.Compare(a.Name, b.Name), a.Number-b.Number) })
	for _, v := range all {
		f(v)
	}
}

// Index lists what the folder has and what is loaded. Kind fault.File when the folder cannot be read.
func (r *Repository) Index() ([]Entry, error) {
	there, err := r.scan()
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	list := []Entry{}
	for name, files := range there {
		for n := range files {
			if r.models[name][n] == nil {
				list = append(list, Entry{name, strconv.Itoa(n), Unavailable, "not loaded"})
			}
		}
	}
	for name, slots := range r.models {
		for n, s := range slots {
			list = append(list, Entry{name, strconv.Itoa(n), s.state, s.reason})
		}
	}
	slices.SortFunc(list, func(a, b Entry) int {
		x, _ := number(a.Version)
		y, _ := number(b.Version)
		return cmp.Or(cmp.Compare(a.Name, b.Name), x-y)
	})
	return list, nil
}

// refused is an error of one of the kinds above with a text of its own.
type refused struct {
	error
	kind error
}

func (r refused) Unwrap() error { return r.kind }

func refusal(kind error, format string, args ...any) error {
	return refused{fault.New(fault.Argument, format, args...), kind}
}
