// Command badport is a port for the tests of the runner: an honest one, or one that misbehaves in the way that its first
// argument names. It is written against vectors/README.md and shares no code with the driver that it is to test, but for the
// policies themselves, which it asks through the in-process driver.
//
//	badport [-protocol json|text] [-alive ADDRESS] MODE
//
// With -alive it holds a connection open as long as it lives, and so does the child that it starts in mode "children":
// that is how a test knows that none is left.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"weir"
	"weir/vectors"
)

// port is what runs.
type port struct {
	mode   string
	in     *bufio.Scanner
	out    *bufio.Writer
	driver *vectors.RegistryDriver
	cases  int
	last   string // what was answered before
}

func main() {
	protocol := flag.String("protocol", "json", "")
	alive := flag.String("alive", "", "")
	flag.Parse()
	if *alive != "" {
		conn, err := net.Dial("tcp", *alive)
		if err != nil {
			os.Exit(9)
		}
		defer conn.Close()
	}
	p := &port{mode: flag.Arg(0), in: bufio.NewScanner(os.Stdin), out: bufio.NewWriter(os.Stdout),
		driver: vectors.NewRegistryDriver("badport", "go", weir.Registry())}
	p.in.Buffer(nil, 16<<20)
	p.begin(*alive)
	talk := map[string]func(){"json": p.talkJSON, "text": p.talkText, "fast json": p.fastJSON, "fast text": p.fastText}
	form := *protocol
	if p.mode == "fast" {
		form = "fast " + form
	}
	talk[form]()
	if p.mode == "crash at bye" {
		os.Exit(4)
	}
}

// begin is what is done before a word is read.
func (p *port) begin(alive string) {
	switch p.mode {
	case "banner":
		fmt.Println("Welcome to badport 1.0 \x1b[1m")
	case "crash at hello":
		fmt.Fprintln(os.Stderr, "cannot \x1b[31mfind\x1b[0m the <config>")
		os.Exit(3)
	case "sleep at hello":
		sleep()
	case "endless", "flood":
		text := strings.Repeat("x", 4096)
		if p.mode == "flood" {
			text += "\n"
		}
		for {
			os.Stdout.WriteString(text)
		}
	case "stubborn", "orphan":
		signal.Ignore(syscall.SIGTERM)
		spawn(alive)
	case "child":
		signal.Ignore(syscall.SIGTERM)
		os.Stderr.WriteString("up")
		sleep()
	}
}

// spawn starts a child that outlives us, holds our standard output open, and is up.
func spawn(alive string) {
	child := exec.Command(os.Args[0], "-alive", alive, "child")
	child.Stdout = os.Stdout
	up, err := child.StderrPipe()
	if err != nil || child.Start() != nil {
		os.Exit(9)
	}
	if _, err := up.Read(make([]byte, 1)); err != nil {
		os.Exit(9)
	}
}

// sleep is longer than any test.
func sleep() { time.Sleep(time.Hour) }

// line sends one line, flushed, in the way of the mode.
func (p *port) line(text string) {
	defer func() { p.last = text }()
	switch p.mode {
	case "never flush":
		p.out = bufio.NewWriterSize(os.Stdout, 1<<20)
		p.out.WriteString(text + "\n")
		return
	case "two writes":
		half := len(text) / 2
		os.Stdout.WriteString(text[:half])
		os.Stdout.Sync()
		text = text[half:]
	case "no newline":
		p.out.WriteString(text)
		p.out.Flush()
		return
	case "crlf":
		text += "\r"
	}
	p.out.WriteString(text + "\n")
	p.out.Flush()
}

// before is what is done when a case has been read and not yet answered. Only the first or third case is met by most.
func (p *port) before() {
	p.cases++
	switch {
	case (p.mode == "crash at third" || p.mode == "orphan") && p.cases == 3:
		fmt.Fprintln(os.Stderr, "assertion failed")
		os.Exit(5)
	case p.mode == "always crash" || p.mode == "moody":
		os.Exit(6)
	case p.mode == "exit 0" && p.cases == 2:
		os.Exit(0)
	case p.mode == "sleep", p.mode == "stubborn":
		sleep()
	case p.mode == "close output":
		os.Stdout.Close()
		sleep()
	case p.mode == "half a line":
		os.Stdout.WriteString(`{"seq":`)
		sleep()
	case strings.HasPrefix(p.mode, "shout") && p.cases == 1:
		text := strings.Repeat("all work and no play \x1b[2J\n", 1<<12)
		much := 100 << 20
		if p.mode == "shout and crash" {
			much = 1 << 20
		}
		for sent := 0; sent < much; sent += len(text) {
			os.Stderr.WriteString(text)
		}
		if p.mode == "shout and crash" {
			os.Stderr.WriteString("the end\n")
			os.Exit(7)
		}
	case p.mode == "long line":
		p.line(`{"seq":1,"error":"` + strings.Repeat("y", 10<<20) + `"}`)
	case strings.HasPrefix(p.mode, "evil"):
		fmt.Fprintln(os.Stderr, "I saw <b>\x1b[2J & more")
	case p.mode == "print":
		p.line("DEBUG: case " + fmt.Sprint(p.cases))
	}
}

// afterHello is what is done once hello is answered.
func (p *port) afterHello() {
	if p.mode == "close input" {
		os.Stdin.Close()
		sleep()
	}
}

// evil is text that a terminal or a report must not see as it is.
const evil = "\x1b[2J<script>&]]>\x07\u202e#"

// bend changes an answer in the way of the mode.
func (p *port) bend(r *vectors.Reply) {
	switch p.mode {
	case "always allow", "always deny":
		for i := range r.Results {
			if r.Results[i].Outcome != "" {
				r.Results[i].Outcome = strings.TrimPrefix(p.mode, "always ")
			}
		}
	case "too few":
		if len(r.Results) > 0 {
			r.Results = r.Results[1:]
		}
	case "too many":
		if len(r.Results) > 0 {
			r.Results = append(r.Results, r.Results[0])
		}
	case "skip":
		*r = vectors.Reply{Skipped: "not to my taste"}
	case "evil error":
		*r = vectors.Reply{Error: evil}
	case "evil skip":
		*r = vectors.Reply{Skipped: evil}
	case "evil outcome":
		for i := range r.Results {
			r.Results[i].Outcome = "deny" + strings.ReplaceAll(evil, " ", "")
		}
	}
}
