package speed

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// simulate measures `weir simulate` over an access log, in lines a second of processor time.
func (b *bench) simulate(ctx context.Context) (section, error) {
	folder, err := os.MkdirTemp("", "weir-simulate")
	if err != nil {
		return section{}, err
	}
	defer os.RemoveAll(folder)
	log, program := filepath.Join(folder, "access.log"), filepath.Join(folder, "weir.exe")
	if err := writeLog(log, b.logLines); err != nil {
		return section{}, err
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/weir")
	build.Dir = ".." // the command's module, whose go.sum knows what it needs
	if out, err := build.CombinedOutput(); err != nil {
		b.say("left out: simulate: go build ./cmd/weir: %v: %s", err, out)
		return section{title: "Simulate", note: "Left out: the command did not build."}, nil
	}
	var rates []float64
	for range simulations {
		run := exec.CommandContext(ctx, program, "simulate", "-limit", "100/s burst 20", "-policy", "gcra", "-log", log)
		if out, err := run.CombinedOutput(); err != nil {
			return section{}, fmt.Errorf("weir simulate: %w: %s", err, out)
		}
		spent := run.ProcessState.UserTime() + run.ProcessState.SystemTime()
		rates = append(rates, float64(b.logLines)/spent.Seconds())
	}
	rate := median(rates)
	return section{
		title: "Simulate",
		note: fmt.Sprintf("`weir simulate -limit '100/s burst 20' -policy gcra -log FILE`, a log of %s lines in the common format, 10,000 clients; "+
			"lines over user and system time, the median of %d runs.", grouped(b.logLines), simulations),
		head:    []string{"", "lines a second of processor time"},
		lines:   [][]string{{"weir simulate", grouped(int(rate))}},
		targets: []target{atLeast("weir simulate through gcra, lines a second a core", rate/1e6, 1, " million")},
	}, nil
}

const simulations = 5

// writeLog writes an access log of n lines, 1,000 a second.
func writeLog(name string, n int) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(f, 1<<20)
	for i := range n {
		client := mix(uint64(i)) % 10_000
		at := start.Add(time.Duration(i) * time.Millisecond).UTC().Format("02/Jan/2006:15:04:05 -0700")
		fmt.Fprintf(out, "10.0.%d.%d - - [%s] \"GET /page/%d HTTP/1.1\" 200 %d\n", client/256, client%256, at, i%100, 500+i%1000)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return f.Close()
}
