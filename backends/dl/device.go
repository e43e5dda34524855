package dl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// maxProviders bounds the devices of a manifest.
const maxProviders = 16

// runtimeDevices are the providers of a library of ONNX Runtime without a list of its own.
func runtimeDevices() []Device {
	return []Device{{Provider: "CPUExecutionProvider", Kind: "cpu", Vendor: "Microsoft"}}
}

// providers reads and checks the key "devices" of a manifest whose mode is said to be mode; why says what is wrong.
func (m *Manifest) providers(value json.RawMessage, mode string) (why string) {
	switch {
	case m.API != RuntimeAPI && value == nil:
		return ""
	case m.API != RuntimeAPI:
		return "devices: only for the api " + RuntimeAPI
	case mode == string(ModeDriver):
		return "mode: \"driver\": a library of ONNX Runtime is a device alone"
	}
	m.Mode = ModeDevice
	if value == nil {
		m.Devices = runtimeDevices()
		return ""
	}
	if len(m.Devices) == 0 || len(m.Devices) > maxProviders {
		return fmt.Sprintf("devices: %d of them: want 1 to %d", len(m.Devices), maxProviders)
	}
	m.Devices = nil
	d := json.NewDecoder(bytes.NewReader(value))
	d.DisallowUnknownFields()
	var list []struct {
		Provider, Plugin, Kind, Vendor string
		Options                        map[string]string
	}
	if err := d.Decode(&list); err != nil {
		return "devices: " + strings.TrimPrefix(err.Error(), "json: ") +
			": want provider, plugin, kind, vendor and options"
	}
	plugins := map[string]string{}
	for i, p := range list {
		at := "devices[" + strconv.Itoa(i) + "]."
		switch {
		case p.Provider == "":
			return at + "provider: missing or empty"
		case strings.ContainsRune(p.Provider+p.Plugin, 0):
			return at + "provider: want no zero bytes"
		case p.Plugin != "" && !filepath.IsAbs(p.Plugin):
			return at + "plugin: " + short(p.Plugin) + ": want an absolute path"
		case !slices.Contains([]string{"", "cpu", "gpu", "accelerator"}, p.Kind):
			return at + "kind: " + short(p.Kind) + ": want cpu, gpu or accelerator"
		}
		if first, there := plugins[p.Provider]; there && first != p.Plugin {
			return at + "provider: " + short(p.Provider) + ": there twice, with plug-ins that differ"
		}
		plugins[p.Provider] = p.Plugin
		if back := nothing(p.Options); back != "" {
			return at + "options: " + back + " computes nothing: it writes what it was asked for to a file"
		}
		m.Devices = append(m.Devices, Device{Provider: p.Provider, Plugin: p.Plugin, Kind: p.Kind, Vendor: p.Vendor,
			Options: p.Options})
	}
	return ""
}

// nothing names a back end of Qualcomm's, among options, that answers without computing.
func nothing(options map[string]string) string {
	for _, k := range slices.Sorted(maps.Keys(options)) {
		v := strings.ToLower(options[k])
		file := filepath.Base(v)
		switch {
		case k == "backend_type" && (v == "saver" || v == "ir"),
			k == "backend_path" && (strings.HasPrefix(file, "libqnnsaver") || strings.HasPrefix(file, "libqnnir")):
			return k + "=" + options[k]
		}
	}
	return ""
}

// number gives the devices of all candidates their ids, whether or not they can be used, and looks at the files of
// plug-ins.
func number(list []*Candidate) {
	n := 0
	for _, c := range list {
		if c.Status == Skipped {
			continue
		}
		for i := range c.Devices {
			d := &c.Devices[i]
			d.ID = RuntimeAPI
			if n++; n > 1 {
				d.ID += strconv.Itoa(n)
			}
			if d.Plugin == "" || c.Status != Usable {
				continue
			}
			var err error
			if d.File, d.identity, err = Check(d.Plugin); err != nil {
				d.Reason = "plugin: " + short(d.Plugin) + ": " + err.Error()
			}
		}
	}
}

// Number is the place of a device among those of all manifests, from 0.
func (d *Device) Number() int {
	n, err := strconv.Atoi(strings.TrimPrefix(d.ID, RuntimeAPI))
	if err != nil {
		return 0
	}
	return n - 1
}

// Identity changes with the plug-in's file, "" without one.
func (d *Device) Identity() string {
	if d.File == "" {
		return ""
	}
	return fmt.Sprintf("%v %d %d", d.identity, d.identity.Size, d.identity.Modified)
}

// words tell the devices of a candidate from those of another manifest of the same library.
func (c *Candidate) words() (text string) {
	for i := range c.Devices {
		d := &c.Devices[i]
		text += fmt.Sprintf(" %q %q %v", d.Provider, d.Plugin, d.Options)
	}
	return text
}
