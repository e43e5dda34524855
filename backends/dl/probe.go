package dl

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"
)

// HelperName is the file name of the program that opens a driver first.
const HelperName = "anynpu-probe"

// ProbeLimit is how long it may take.
const ProbeLimit = 10 * time.Second

// helperEnvironment keeps a driver that uses its own API while it is opened from being looked for again.
func helperEnvironment() []string {
	var out []string
	for _, a := range APIs {
		out = append(out, "ANYNPU_"+strings.ToUpper(a.Name)+"=cpu")
	}
	return out
}

// verdict is the result of a probe that is kept. One of another state of the file, of other symbols or of another
// version does not count.
type verdict struct {
	File     string   `json:"file"`
	Identity Identity `json:"identity"`
	Version  string   `json:"version"`
	Required []string `json:"required"`
	Reason   string   `json:"reason"` // "": it can be opened
	Table    bool     `json:"table"`
	Plugin   Identity `json:"plugin"` // of the plug-in that was tried with the file
}

// Probe opens the file of a usable candidate in a program of its own, unless a kept verdict says what came of it, and
// refuses one that crashes, hangs, cannot be opened or has neither the symbols without which nothing works nor a table
// with them. ANYNPU_PROBE=off does without.
func (c *Candidate) Probe(o Options) {
	if c.Status != Usable || c.Remote != nil {
		return
	}
	switch value := o.Getenv("ANYNPU_PROBE"); value {
	case "off":
		return
	case "", "on":
	default:
		c.Status, c.Reason = Refused, "ANYNPU_PROBE: "+short(value)+": want on or off"
		return
	}
	a, ok := Find(c.API)
	if !ok {
		return
	}
	v := verdict{File: c.File, Identity: c.id, Version: o.Version, Required: a.words()}
	remedy := v.find(o, verdictFile(o.Getenv, c.API+"\x00"+c.File), append([]string{c.File}, v.Required...), ProbeLimit,
		func(outcome Outcome) {
			if level, entries, ok := outcome.table(); ok && v.Reason == "" && a.Table != nil {
				v.Table = true
				v.Reason = a.Table.Judge(level, func(i int) bool { return i < len(entries) && entries[i] == '1' })
			}
		})
	c.Table = v.Table
	c.judge(v.Reason, remedy)
}

// find reads a verdict that was kept in a file, or has the helper find it and keeps it; judged looks at what the helper
// says beside. remedy says how a user can mend a reason, "" for nothing.
func (v *verdict) find(o Options, kept string, arguments []string, limit time.Duration,
	judged func(Outcome)) (remedy string) {
	if old, ok := readVerdict(kept); ok && !o.Again && v.same(old) {
		v.Table, v.Reason = old.Table, old.Reason
		return "; anynpu drivers --probe tries it again"
	}
	const without = "; ANYNPU_PROBE=off does without"
	helper := o.Helper()
	if helper == "" {
		v.Reason = "the program " + HelperName + ", which opens a driver first, is not beside this library"
		return without
	}
	outcome, err := o.Run(append([]string{helper}, arguments...), helperEnvironment(), limit)
	if err != nil {
		v.Reason = fmt.Sprintf("%s cannot be started: %v", helper, err)
		return without
	}
	v.Reason = outcome.reason(limit)
	judged(outcome)
	v.write(kept)
	return ""
}

func (c *Candidate) judge(reason, remedy string) {
	if reason != "" {
		c.Status, c.Reason = Refused, "library: "+short(c.Path)+": "+reason+remedy
	}
}

// reason is the reason against a driver, "" for none. The helper's text may come from the driver.
func (o Outcome) reason(limit time.Duration) string {
	text := printable(o.Output)
	switch {
	case o.TimedOut:
		return fmt.Sprintf("opening it takes longer than %v", limit)
	case o.Signal != 0:
		return fmt.Sprintf("opening it ends in signal %d (%v)", o.Signal, syscall.Signal(o.Signal))
	case o.Exit == 0 && strings.HasSuffix(o.Output, "ok\n"):
		return ""
	case o.Exit == 1 && text != "" && text != "ok":
		return text
	}
	return fmt.Sprintf("opening it ends the program with exit code %d", o.Exit)
}

// table is the helper's line about a table, before ok: its level, and a 1 for each address that is there. ok is false
// when the driver exports its functions.
func (o Outcome) table() (level int64, entries string, ok bool) {
	line := strings.TrimSuffix(o.Output, "\nok\n")
	words := strings.Fields(line[strings.LastIndexByte(line, '\n')+1:])
	if len(words) < 2 || words[0] != "table" {
		return 0, "", false
	}
	level, err := strconv.ParseInt(words[1], 10, 64)
	if len(words) > 2 {
		entries = words[2]
	}
	return level, entries, err == nil
}

// printable is the first line of a text of others', without characters that a terminal obeys.
func printable(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return '?'
		}
		return r
	}, text)
	return text[:min(len(text), 400)]
}

func (v *verdict) same(old verdict) bool {
	return v.File == old.File && v.Identity == old.Identity && v.Version == old.Version && v.Plugin == old.Plugin &&
		slices.Equal(v.Required, old.Required)
}

// verdictFile is where the verdict on what is called so is kept, "" if there is no folder for it.
func verdictFile(getenv func(string) string, name string) string {
	own := userFolder(getenv, "XDG_CACHE_HOME", ".cache")
	if own == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(name))
	return filepath.Join(own, "anynpu", "drivers", hex.EncodeToString(sum[:8])+".json")
}

// readVerdict reads a kept verdict; one that others may have written does not count.
func readVerdict(path string) (v verdict, ok bool) {
	if path == "" {
		return v, false
	}
	file, err := safe(path)
	if err != nil {
		return v, false
	}
	data, err := os.ReadFile(file)
	return v, err == nil && len(data) <= maxManifest && json.Unmarshal(data, &v) == nil
}

// write keeps a verdict. Where that fails, the next process probes again.
func (v *verdict) write(path string) {
	data, err := json.Marshal(v)
	if path == "" || err != nil || os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(path), "new-*")
	if err != nil {
		return
	}
	_, err = f.Write(data)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
}
