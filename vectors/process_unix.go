//go:build unix

package vectors

import (
	"os/exec"
	"syscall"
)

// group is a program and whatever it starts, unless that leaves the group of its own accord.
type group struct{ pid int }

func startInGroup(cmd *exec.Cmd) (*group, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that Ctrl-C reaches us alone
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &group{cmd.Process.Pid}, nil
}

// terminate asks all of the group to end.
func (g *group) terminate() { _ = syscall.Kill(-g.pid, syscall.SIGTERM) } // none left is what is wanted

// kill ends all of the group.
func (g *group) kill() { _ = syscall.Kill(-g.pid, syscall.SIGKILL) }

func (g *group) close() {}
