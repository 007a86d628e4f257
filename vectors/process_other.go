//go:build !unix && !windows

package vectors

import "os/exec"

// group is one program: this system has no means to end what it has started besides.
type group struct{ cmd *exec.Cmd }

func startInGroup(cmd *exec.Cmd) (*group, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &group{cmd}, nil
}

func (g *group) terminate() {}
func (g *group) kill()      { _ = g.cmd.Process.Kill() } // ended is what is wanted
func (g *group) close()     {}
