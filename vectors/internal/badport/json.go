package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"

	"weir/vectors"
)

// message is any request.
type message struct {
	Cmd  string `json:"cmd"`
	Seq  int    `json:"seq"`
	More bool   `json:"more"`
	Hash string `json:"hash"`
	Hex  *string
	Seed *vectors.Number
	In   *vectors.Number
	vectors.Request
}

// numbers are the quoted numbers of an answer.
var numbers = regexp.MustCompile(`"(\d+)"`)

// talkJSON answers until bye.
func (p *port) talkJSON() {
	var open vectors.Request // a case that comes in pieces: done anew with each, since the driver does whole cases only
	for p.in.Scan() {
		var m message
		if err := json.Unmarshal(p.in.Bytes(), &m); err != nil {
			p.line(`{"error":"what?"}`)
			continue
		}
		switch m.Cmd {
		case "hello":
			p.helloJSON()
			p.afterHello()
		case "hash":
			key, err := p.driver.Hash(context.Background(), vectors.HashRequest{Hash: m.Hash, Hex: m.Hex, Seed: m.Seed, In: m.In})
			if err != nil {
				panic(err)
			}
			p.line(fmt.Sprintf(`{"seq":%d,"key":"%d"}`, m.Seq, key))
		case "case", "steps":
			p.before()
			if m.Cmd == "case" {
				open = m.Request
			} else {
				open.Steps = append(open.Steps, m.Steps...)
			}
			p.caseJSON(m.Seq, open, len(m.Steps))
		case "bye":
			if p.mode == "farewell" {
				p.line("bye!")
			}
			if p.mode == "linger" {
				sleep()
			}
			return
		}
	}
}

func (p *port) helloJSON() {
	h, _ := p.driver.Hello(context.Background())
	switch p.mode {
	case "evil name":
		h.Name, h.Version, h.Language = evil, evil, evil
	case "moody":
		h.Name = fmt.Sprintf("process %d", os.Getpid())
	case "claims nothing":
		h.Policies, h.Can = []string{"gcar"}, []string{}
	case "protocol 2":
		h.Protocol = 2
	}
	text, err := json.Marshal(h)
	if err != nil {
		panic(err)
	}
	if p.mode == "half a hello" {
		text = []byte(`{"protocol":1,"name":"half"}`)
	}
	p.line(string(text))
}

// caseJSON answers the last steps of a case.
func (p *port) caseJSON(seq int, q vectors.Request, last int) {
	if p.mode == "echo" {
		p.line(p.last)
		return
	}
	r, err := p.driver.Run(context.Background(), q)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if len(r.Results) > 0 {
		r.Results = r.Results[len(r.Results)-last:]
	}
	p.bend(&r)
	if p.mode == "wrong seq" {
		seq--
	}
	text, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	switch p.mode {
	case "not JSON":
		text = []byte("{allow}")
	case "numbers":
		text = numbers.ReplaceAll(text, []byte("$1"))
	case "nothing":
		text = []byte("{}")
	case "other case":
		text = []byte(strings.ReplaceAll(string(text), "outcome", "Outcome"))
	}
	if string(text) == "{}" && p.mode != "nothing" {
		text = []byte(`{"results":[]}`)
	}
	comma := ","
	if string(text) == "{}" {
		comma = ""
	}
	p.line(fmt.Sprintf(`{"seq":%d%s%s`, seq, comma, text[1:]))
}
