package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"weir/vectors"
)

// talkText answers until bye.
func (p *port) talkText() {
	var q vectors.Request
	for p.in.Scan() {
		w := strings.Split(p.in.Text(), " ")
		switch w[0] {
		case "hello":
			p.helloText()
			p.afterHello()
		case "case":
			q = vectors.Request{Policy: w[2], MaxKeys: w[3], Params: params(w[4:])}
		case "step":
			q.Steps = append(q.Steps, stepOf(w))
		case "end":
			p.before()
			p.caseText(w[1], q)
		case "hash":
			p.line("h " + w[1] + " " + p.hash(w))
			p.line("end " + w[1])
		case "bye":
			return
		default:
			p.line("! - what?")
		}
	}
}

func (p *port) helloText() {
	h, _ := p.driver.Hello(context.Background())
	p.line("hello 1 badport 0.1 go")
	p.line("policies " + strings.Join(h.Policies, " "))
	p.line("can " + strings.Join(h.Can, " "))
	p.line("max_keys *")
	p.line(".")
}

func (p *port) hash(w []string) string {
	q := vectors.HashRequest{Hash: w[2], In: number(w[3])}
	if w[2] == "xxh64" {
		digits := strings.TrimPrefix(w[3], "-")
		q = vectors.HashRequest{Hash: w[2], Hex: &digits, Seed: number(w[4])}
	}
	key, err := p.driver.Hash(context.Background(), q)
	if err != nil {
		panic(err)
	}
	return strconv.FormatUint(uint64(key), 10)
}

// number is a word of a line; "-" is none.
func number(word string) *vectors.Number {
	v, err := strconv.ParseUint(word, 10, 64)
	if err != nil {
		return nil
	}
	n := vectors.Number(v)
	return &n
}

func params(w []string) vectors.Params {
	return vectors.Params{Permits: number(w[0]), Period: number(w[1]), Burst: number(w[2]), Permits2: number(w[3]),
		Period2: number(w[4]), Burst2: number(w[5])}
}

func stepOf(w []string) vectors.Step {
	s := vectors.Step{Op: w[2], Now: number(w[3]), Key: number(w[4]), Cost: number(w[5])}
	if s.Op == "relimit" {
		limit := params(w[7:])
		s.Params = &limit
		return s
	}
	s.Cost2 = number(w[6])
	return s
}

func (p *port) caseText(seq string, q vectors.Request) {
	r, err := p.driver.Run(context.Background(), q)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	p.bend(&r)
	own := seq
	if p.mode == "wrong seq" {
		own = "0"
	}
	switch {
	case r.ConfigError != "":
		p.out.WriteString("x " + own + " " + r.ConfigError + "\n")
	case r.Skipped != "":
		p.out.WriteString("s " + own + " " + r.Skipped + "\n")
	case r.Error != "":
		p.out.WriteString("! " + own + " " + r.Error + "\n")
	}
	for i, w := range r.Results {
		p.out.WriteString(p.result(own, i, w) + "\n")
	}
	if p.mode != "no end" {
		p.line("end " + own)
	}
	p.out.Flush()
}

func (p *port) result(seq string, i int, w vectors.Want) string {
	if w.Keys != nil {
		return fmt.Sprintf("k %s %d %d", seq, i, *w.Keys)
	}
	retry := "-"
	if w.RetryAfter != nil {
		retry = strconv.FormatInt(int64(*w.RetryAfter), 10) // never is -1 by its bits
	}
	binding := w.Binding
	if binding == "" {
		binding = "-"
	}
	return fmt.Sprintf("r %s %d %s %s %s %s %s %s", seq, i, w.Outcome, orDash(w.Remaining), retry, orDash(w.ResetAfter),
		orDash(w.Delay), binding)
}

func orDash(n *vectors.Number) string {
	if n == nil {
		return "-"
	}
	return strconv.FormatUint(uint64(*n), 10)
}
