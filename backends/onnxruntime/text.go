package onnxruntime

import (
	"runtime"
	"strings"
	"unsafe"

	"github.com/anynpu/anynpu/backends/driver"
)

// cText copies a C string, "" for one that cannot be read.
func cText(at uintptr) string {
	s, err := driver.Text(at)
	if err != nil {
		return ""
	}
	return s
}

// word is a C string on the heap: one on the stack would be left behind when the library calls back and the stack
// grows.
//
//go:noinline
func word(s string) *byte { return unsafe.SliceData(append([]byte(s), 0)) }

func address(b *byte) uintptr { return uintptr(unsafe.Pointer(b)) }

// words are C strings and the array of their addresses. They stay while pin holds them.
func words(pin *runtime.Pinner, list []string) uintptr {
	at := make([]uintptr, len(list)+1)
	for i, s := range list {
		w := word(s)
		pin.Pin(w)
		at[i] = address(w)
	}
	pin.Pin(&at[0])
	return uintptr(unsafe.Pointer(&at[0]))
}

// addressOf is the address of an address.
func addressOf(at *uintptr) uintptr { return uintptr(unsafe.Pointer(at)) }

// maxSentence bounds the part of a runtime's text that is passed on.
const maxSentence = 400

// oneLine makes one line of a text, without its end if it is long.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxSentence {
		text = strings.ToValidUTF8(text[:maxSentence], "") + "..."
	}
	return text
}
