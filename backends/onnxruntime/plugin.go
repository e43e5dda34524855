package onnxruntime

import (
	"runtime"

	"github.com/anynpu/anynpu/core/fault"
)

// plug registers a plug-in's file, whose hash changes with it, unless it is there under this name already. The name of
// another plug-in is free if no device was made of that: no session lives in it. Kind fault.Unsupported for a refusal.
func (l *Library) plug(name, file, hash string) (*plugin, error) {
	if first := l.plugins[name]; first != nil {
		switch {
		case first.file == file && first.hash == hash:
			return first, nil
		case first.uses > 0:
			return nil, fault.New(fault.Unsupported, "the name %s is already registered, for the plug-in %s", name,
				first.file)
		}
		if err := l.unplug(name); err != nil {
			return nil, refused(err)
		}
	}
	n, f := word(name), word(file)
	err := l.call(fnRegisterExecutionProviderLibrary, l.env, address(n), address(f))
	runtime.KeepAlive(n)
	runtime.KeepAlive(f)
	if err != nil {
		return nil, refused(err)
	}
	made := &plugin{file: file, hash: hash}
	l.plugins[name] = made
	return made, nil
}

// unplug takes a plug-in out. The process dies if a session of it lives.
func (l *Library) unplug(name string) error {
	at := word(name)
	defer runtime.KeepAlive(at)
	err := l.call(fnUnregisterExecutionProviderLibrary, l.env, address(at))
	if err == nil {
		delete(l.plugins, name)
	}
	return err
}
