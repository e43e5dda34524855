package boundary

/*
#include <pthread.h>
#include <stdlib.h>

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int have_key;

static void make_key(void) { have_key = pthread_key_create(&key, free) == 0; }

// Gives the calling thread a new message, which it owns; a thread's end frees it.
static void set_message(char *message)
{
	pthread_once(&once, make_key);
	if (!have_key) {
		free(message);
		return;
	}
	free(pthread_getspecific(key));
	if (pthread_setspecific(key, message) != 0)
		free(message);
}

static char *message(void)
{
	pthread_once(&once, make_key);
	return have_key ? pthread_getspecific(key) : NULL;
}
*/
import "C"

import (
	"unsafe"

	"github.com/anynpu/anynpu/core/fault"
)

var noError Block

func init() { noError.SetString("") }

// LastError returns the address of the message of the last call of this thread that failed, "" if none did. It is valid
// until the next call that fails on this thread.
func LastError() uintptr {
	if m := C.message(); m != nil {
		return uintptr(unsafe.Pointer(m))
	}
	return noError.Addr()
}

// setLastError keeps the message of a failed call. It runs on the thread that made the call, as exports do.
func setLastError(f *Func, err error) {
	C.set_message(C.CString(f.Name + ": " + fault.Printable(err.Error()) + " [" + fault.IDOf(err) + "]"))
}
