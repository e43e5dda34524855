package onnxruntime

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"runtime"
	"slices"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
)

// CPUProvider is the name of the runtime's own provider.
const CPUProvider = "CPUExecutionProvider"

// Provider is an execution provider that is to be a device.
type Provider struct {
	Name    string // by which the runtime knows it, or is to know that of a plug-in
	Plugin  string // absolute path of the plug-in's file, "": it is in the library
	Hash    string // changes with the plug-in
	Kind    device.Kind
	Vendor  string // "": as the runtime says
	Options map[string]string
}

// provider is one that the library has.
type provider struct {
	Provider
	plugin  *plugin   // nil: it is in the library
	devices []uintptr // OrtEpDevice, of a plug-in
	maker   string    // of a plug-in, as it says, whatever name it is registered under
}

// find looks for a provider in the library, or has its plug-in registered and looks for its devices. Kind
// fault.Unsupported where there is none.
func (l *Library) find(p Provider) (*provider, error) {
	out := &provider{Provider: p}
	out.Options = exactly(p)
	if p.Plugin == "" {
		return out, l.builtIn(p.Name, p.Name != CPUProvider)
	}
	defer keepSignalStack()()
	var err error
	if out.plugin, err = l.plug(p.Name, p.Plugin, p.Hash); err != nil {
		return nil, err
	}
	all, err := l.list(fnGetEpDevices, l.env)
	if err != nil {
		return nil, err
	}
	for _, d := range all {
		if l.text(fnEpDeviceEpName, d) == p.Name {
			out.devices = append(out.devices, d)
		}
	}
	if len(out.devices) == 0 {
		return nil, fault.New(fault.Unsupported, "the plug-in offers no device on this machine")
	}
	out.maker = l.text(fnEpDeviceEpVendor, out.devices[0])
	if out.Vendor == "" {
		out.Vendor = out.maker
	}
	return out, nil
}

// exactly returns a provider's options with one that has OpenVINO compute on a CPU in the numbers of the model, where
// they leave that open. Its default quantizes the numbers that are multiplied by weights of codes, and computes in
// bfloat16 where the processor does.
func exactly(p Provider) map[string]string {
	kind, known := p.Options["device_type"]
	if p.Name != openVINOProvider || p.Plugin != "" || known && kind != "CPU" {
		return p.Options
	}
	out := map[string]string{"precision": "ACCURACY"}
	if p.Options["load_config"] != "" {
		delete(out, "precision")
	}
	maps.Copy(out, p.Options)
	return out
}

// append adds the provider to the options of a session. The runtime's own is there in any case.
func (l *Library) append(options uintptr, p *provider) error {
	if p.Name == CPUProvider {
		return nil
	}
	keys := slices.Sorted(maps.Keys(p.Options))
	values := make([]string, len(keys))
	for i, k := range keys {
		values[i] = p.Options[k]
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	k, v, n := words(&pin, keys), words(&pin, values), uintptr(len(keys))
	if p.Plugin == "" {
		name := word(p.Name)
		defer runtime.KeepAlive(name)
		return l.call(fnSessionOptionsAppendExecutionProvider, options, address(name), k, v, n)
	}
	devices := slices.Clone(p.devices[:1])
	pin.Pin(&devices[0])
	return l.call(fnSessionOptionsAppendExecutionProviderV2, options, l.env, addressOf(&devices[0]), 1, k, v, n)
}

// identity changes with the hardware and the settings of a provider.
func (p *Provider) identity() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q", p.Name, p.Hash)
	for _, k := range slices.Sorted(maps.Keys(p.Options)) {
		fmt.Fprintf(h, " %q=%q", k, p.Options[k])
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
