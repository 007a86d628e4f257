package vectors

import (
	"encoding/binary"
	"os/exec"
	"sync"
	"syscall"
	"unsafe"
)

var (
	kernel32                 = syscall.NewLazyDLL("kernel32.dll")
	createJobObject          = kernel32.NewProc("CreateJobObjectW")
	setInformationJobObject  = kernel32.NewProc("SetInformationJobObject")
	assignProcessToJobObject = kernel32.NewProc("AssignProcessToJobObject")
	terminateJobObject       = kernel32.NewProc("TerminateJobObject")
)

// The numbers of winnt.h.
const (
	processSetQuota                   = 0x0100
	jobObjectExtendedLimitInformation = 9
	jobObjectLimitKillOnJobClose      = 0x2000
	limitFlagsAt                      = 16 // in JOBOBJECT_EXTENDED_LIMIT_INFORMATION, for 32 bits and 64
)

// group is a job: a program and whatever it starts. What it starts before it is put into the job, right after its own
// start, is not in it. The system ends the job when we end, however that comes about.
type group struct {
	mu  sync.Mutex
	job syscall.Handle // 0 when closed
	cmd *exec.Cmd
}

func startInGroup(cmd *exec.Cmd) (*group, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP} // Ctrl-C reaches us alone
	job, err := newJob()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		_ = syscall.CloseHandle(job)
		return nil, err
	}
	if err := assign(job, uint32(cmd.Process.Pid)); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = syscall.CloseHandle(job)
		return nil, err
	}
	return &group{job: job, cmd: cmd}, nil
}

func newJob() (syscall.Handle, error) {
	job, _, err := createJobObject.Call(0, 0)
	if job == 0 {
		return 0, err
	}
	size := 112 // of JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	if unsafe.Sizeof(uintptr(0)) == 8 {
		size = 144
	}
	info := make([]uint64, size/8) // so that it is aligned
	limits := unsafe.Slice((*byte)(unsafe.Pointer(&info[0])), size)
	binary.LittleEndian.PutUint32(limits[limitFlagsAt:], jobObjectLimitKillOnJobClose)
	ok, _, err := setInformationJobObject.Call(job, jobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info[0])),
		uintptr(size))
	if ok == 0 {
		_ = syscall.CloseHandle(syscall.Handle(job))
		return 0, err
	}
	return syscall.Handle(job), nil
}

func assign(job syscall.Handle, pid uint32) error {
	h, err := syscall.OpenProcess(processSetQuota|syscall.PROCESS_TERMINATE, false, pid)
	if err != nil {
		return err
	}
	defer syscall.CloseHandle(h)
	if ok, _, err := assignProcessToJobObject.Call(uintptr(job), uintptr(h)); ok == 0 {
		return err
	}
	return nil
}

// terminate does nothing: a program without a window cannot be asked to end. Its standard input is closed by then.
func (g *group) terminate() {}

// kill ends all of the job.
func (g *group) kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job != 0 {
		_, _, _ = terminateJobObject.Call(uintptr(g.job), 1)
	}
}

func (g *group) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job != 0 {
		_ = syscall.CloseHandle(g.job)
		g.job = 0
	}
}
