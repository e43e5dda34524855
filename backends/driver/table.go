package driver

import (
	"encoding/binary"
	"runtime"
	"unsafe"

	"github.com/anynpu/anynpu/backends/dl"
	"github.com/anynpu/anynpu/core/fault"
)

// levelSize are the bytes of the number that a table begins with.
const levelSize = 8

// Functions returns how the functions of an API are found in an open driver: by their names, or, when it does not
// export what nothing works without, in the API's table. The error, of kind fault.File, says what is wrong with a
// table.
func (o Opening) Functions(d *Opened, a dl.API) (lookup func(symbol string) uintptr, table bool, err error) {
	if a.Table == nil || exports(d.Lookup, a.Required) {
		return d.Lookup, false, nil
	}
	give := d.Lookup(a.Table.Function)
	if give == 0 {
		return d.Lookup, false, nil
	}
	entries, err := readTable(a.Table, o.call(give))
	if err != nil {
		return nil, true, fault.Wrap(err, "%s", d.File)
	}
	return func(symbol string) uintptr { return entries[symbol] }, true, nil
}

func exports(lookup func(symbol string) uintptr, symbols []string) bool {
	for _, s := range symbols {
		if lookup(s) == 0 {
			return false
		}
	}
	return true
}

// readTable returns the functions of the table at an address, by their names.
func readTable(t *dl.Table, at uintptr) (map[string]uintptr, error) {
	if at == 0 {
		return nil, fault.New(fault.File, "%s", t.NoTable())
	}
	head, err := Peek(at, levelSize)
	if err != nil {
		return nil, fault.As(fault.File, err, "%s", t.Function)
	}
	level := int64(binary.NativeEndian.Uint64(head))
	entries := make([]uintptr, len(t.Symbols))
	if n := t.Count(level); n > 0 {
		size := n * int(unsafe.Sizeof(uintptr(0)))
		data, err := Peek(at+levelSize, size)
		if err != nil {
			return nil, fault.As(fault.File, err, "%s", t.Function)
		}
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&entries[0])), size), data)
	}
	if why := t.Judge(level, func(i int) bool { return entries[i] != 0 }); why != "" {
		return nil, fault.New(fault.File, "%s", why)
	}
	out := map[string]uintptr{}
	for i, s := range t.Symbols {
		out[s] = entries[i]
	}
	return out, nil
}

// call calls a function of a driver that has no arguments, in the thread's mark.
func (o Opening) call(function uintptr) uintptr {
	if o.Caller == 0 {
		r := callC(function)
		return r
	}
	var pin runtime.Pinner
	none := new([MaxArguments]uintptr)
	pin.Pin(none)
	defer pin.Unpin()
	r := callC(o.Caller, o.Facade, function, uintptr(unsafe.Pointer(none)))
	return r
}
