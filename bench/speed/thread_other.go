//go:build !linux

package speed

import (
	"runtime"
	"time"
)

// pin keeps the calling goroutine on its thread; here no processor can be asked for.
func pin(int) (unpin func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}

// threadTime is the clock; it is not known here how to ask for the time of one thread.
func threadTime() time.Duration { return time.Since(epoch) }

var epoch = time.Now()
