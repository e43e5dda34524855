package boundary

/*
#include <stdlib.h>

#include "boundary.h"

static void call(void *function, int level, const char *component, const char *message, void *user)
{
	int inside = anynpu_out();
	((void (*)(int, const char *, const char *, void *))function)(level, component, message, user);
	anynpu_back(inside);
}
*/
import "C"

import "unsafe"

// A callback is a C function that takes log messages instead of stderr.
type callback struct{ function, user unsafe.Pointer }

// SetLogCallback hands all further messages to the C function at address function, with user; 0 goes back to stderr or
// ANYNPU_LOG_FILE. The function gets level, component and message and is called on the thread that logs.
func SetLogCallback(function, user uintptr) {
	if function == 0 {
		logger.sink.Store(nil)
		return
	}
	logger.sink.Store(&callback{cPointer(function), cPointer(user)})
}

// callback passes a message to the program's function, false if it set none.
func (l *logSink) callback(level Level, component, message string) bool {
	f := l.sink.Load()
	if f == nil {
		return false
	}
	c, m := C.CString(component), C.CString(message)
	defer C.free(unsafe.Pointer(c))
	defer C.free(unsafe.Pointer(m))
	InProgram(func() { C.call(f.function, C.int(level), c, m, f.user) })
	return true
}
