package dl

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/core/fault"
)

// SystemFolders are where manifests of the machine are, behind the user's own.
var SystemFolders = []string{"/etc/anynpu/drivers.d", "/usr/share/anynpu/drivers.d"}

// List returns every driver that is named here, in the order in which they are tried, with the reason against each as
// far as its manifest and its file show one. Nothing is opened or run.
func List(o Options) []*Candidate {
	var out []*Candidate
	overridden := map[string]bool{}
	for _, a := range APIs {
		if path := a.Override(o.Getenv); path != "" {
			overridden[a.Name] = true
			c := &Candidate{Source: a.fileVariable(), Name: filepath.Base(path), API: a.Name, Path: path, Mode: ModeDriver,
				Status: Usable, named: true}
			if a.Alone {
				c.Mode, c.Devices = ModeDevice, runtimeDevices()
			}
			out = append(out, c)
		}
	}
	for _, source := range sources(o) {
		out = append(out, read(source, o))
	}
	seen := map[string]*Candidate{}
	for _, c := range out {
		if c.Status != Usable {
			continue
		}
		if c.Remote != nil {
			if first := seen[RemoteAPI+" "+c.Name]; first != nil {
				c.Status, c.Reason = Refused, "name: "+short(c.Name)+": the same as in "+first.Source
			} else {
				seen[RemoteAPI+" "+c.Name] = c
			}
			continue
		}
		if overridden[c.API] && !c.named {
			a, _ := Find(c.API)
			c.Status, c.Reason = Skipped, a.fileVariable()+" names another"
			continue
		}
		c.check(seen)
	}
	number(out)
	return out
}

// check looks at the candidate's file. seen has the files of those before it.
func (c *Candidate) check(seen map[string]*Candidate) {
	file, id, err := Check(c.Path)
	if err != nil {
		c.Status, c.Reason = Refused, "library: "+short(c.Path)+": "+err.Error()
		return
	}
	c.File, c.id = file, id
	key := c.API + " " + id.String() + c.words()
	if first := seen[key]; first != nil {
		c.Status, c.Reason = Refused, "library: "+short(c.Path)+": the same file as in "+first.Source
		return
	}
	seen[key] = c
}

// source is a manifest's file, or a part of the search path that cannot be read.
type source struct {
	file string
	err  error
}

// sources returns the manifests in their order: those of ANYNPU_DRIVERS alone, a list of files and folders, or those of
// the user's folder and of the machine's.
func sources(o Options) (out []source) {
	if list := o.Getenv("ANYNPU_DRIVERS"); list != "" {
		for _, path := range filepath.SplitList(list) {
			st, err := os.Stat(path)
			switch {
			case path == "":
			case !filepath.IsAbs(path):
				out = append(out, source{path, fault.New(fault.File, "ANYNPU_DRIVERS: %s: want absolute paths", short(path))})
			case err != nil:
				out = append(out, source{path, fault.New(fault.File, "ANYNPU_DRIVERS: %s: %v", short(path), cause(err))})
			case st.IsDir():
				out = append(out, folder(path)...)
			default:
				out = append(out, source{path, nil})
			}
		}
		return out
	}
	if own := userFolder(o.Getenv, "XDG_CONFIG_HOME", ".config"); own != "" {
		out = folder(filepath.Join(own, "anynpu", "drivers.d"))
	}
	folders := o.Folders
	if folders == nil {
		folders = SystemFolders
	}
	for _, f := range folders {
		out = append(out, folder(f)...)
	}
	return out
}

// userFolder is the folder that a variable of the XDG Base Directory Specification names, or its default in the user's
// home; "" if there is neither.
func userFolder(getenv func(string) string, variable, otherwise string) string {
	if at := getenv(variable); filepath.IsAbs(at) {
		return at
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, otherwise)
	}
	return ""
}

// folder returns the manifests of a folder, *.json, by name. One that is not there has none.
func folder(path string) (out []source) {
	entries, err := os.ReadDir(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return []source{{path, fault.New(fault.File, "%s: %v", path, cause(err))}}
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") {
			out = append(out, source{filepath.Join(path, e.Name()), nil})
		}
	}
	slices.SortFunc(out, func(a, b source) int { return strings.Compare(a.file, b.file) })
	return out
}

// read makes a candidate of a manifest.
func read(s source, o Options) *Candidate {
	c := &Candidate{Source: s.file, Status: Refused}
	refuse := func(err error) *Candidate {
		c.Reason = strings.TrimPrefix(err.Error(), s.file+": ")
		return c
	}
	if s.err != nil {
		return refuse(s.err)
	}
	file, err := safe(s.file)
	if err != nil {
		return refuse(err)
	}
	f, err := os.Open(file)
	if err != nil {
		return refuse(cause(err))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxManifest+1))
	if err != nil {
		return refuse(cause(err))
	}
	m, err := Parse(s.file, data)
	if err != nil {
		return refuse(err)
	}
	c.Name, c.API, c.Path, c.Mode, c.Status, c.Devices = m.Name, m.API, m.Library, m.Mode, Usable, m.Devices
	if m.Remote != nil {
		c.Remote, c.Path = m.Remote, strings.Join(m.Remote.Addresses, ", ")
	}
	if reason := m.applies(o.Getenv, o.Version); reason != "" {
		c.Status, c.Reason = Skipped, reason
	}
	return c
}

// Set reads the variable that says where an API's calls go. A value that is none of the settings means Auto, and is
// returned as wrong.
func (a *API) Set(getenv func(string) string) (s Setting, wrong string) {
	switch s = Setting(a.Setting(getenv)); s {
	case ToDriver, ToDevice, ToCPU, Auto:
		return s, ""
	case "":
		return Auto, ""
	}
	return Auto, string(s)
}
