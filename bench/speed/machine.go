package speed

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
)

// machine is what the numbers were taken on, in one line.
func machine() string {
	words := []string{processor(), fmt.Sprintf("%d cores", runtime.NumCPU()), runtime.GOOS + "/" + runtime.GOARCH,
		"Go " + strings.TrimPrefix(runtime.Version(), "go")}
	for _, tool := range [][]string{{"rustc", "--version"}, {"java", "--version"}} {
		if out, err := exec.Command(tool[0], tool[1:]...).Output(); err == nil {
			line, _, _ := strings.Cut(string(out), "\n")
			name, rest, _ := strings.Cut(line, " ")
			version, _, _ := strings.Cut(rest, " ")
			words = append(words, name+" "+version)
		}
	}
	return strings.Join(words, ", ")
}

// processor is its name as Linux tells it.
func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(name, " \t:"))
		}
	}
	return "processor unknown"
}

// versions are those of the modules that this program was built of.
func versions() map[string]string {
	out := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			out[m.Path] = m.Version
		}
	}
	return out
}
