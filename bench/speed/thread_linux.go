package speed

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// pin keeps the calling goroutine on the i-th processor that this process may use, until the answer is called. Where the
// system does not let it, the goroutine keeps its thread and no more.
func pin(i int) (unpin func()) {
	runtime.LockOSThread()
	var before, one unix.CPUSet
	if unix.SchedGetaffinity(0, &before) != nil {
		return runtime.UnlockOSThread
	}
	i %= max(before.Count(), 1)
	for cpu := range len(before) * 64 {
		if !before.IsSet(cpu) {
			continue
		}
		if i == 0 {
			one.Set(cpu)
			break
		}
		i--
	}
	if unix.SchedSetaffinity(0, &one) != nil {
		return runtime.UnlockOSThread
	}
	return func() {
		_ = unix.SchedSetaffinity(0, &before) // a thread that stays pinned is only slower
		runtime.UnlockOSThread()
	}
}

// threadTime is the processor time that the calling thread has used, so that other programs on the machine cost a slice no
// more than what they do to its caches. On a machine that does nothing else it passes as the clock does.
func threadTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return time.Since(epoch)
	}
	return time.Duration(t.Nano())
}

// epoch is what threadTime counts from where the system does not count for each thread.
var epoch = time.Now()
