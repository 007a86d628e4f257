package main

import (
	"bytes"
	"strconv"
)

// fastJSON answers every case with as many results as it has steps, all alike, as fast as can be: what is left is the cost
// of driving a port.
func (p *port) fastJSON() {
	result := []byte(`{"outcome":"allow","remaining":"4","retry_after":"0","reset_after":"334"}`)
	for first := true; p.in.Scan(); first = false {
		line := p.in.Bytes()
		if first {
			p.helloJSON()
			continue
		}
		_, after, found := bytes.Cut(line, []byte(`"seq":`))
		if !found {
			return // bye
		}
		seq, _, _ := bytes.Cut(after, []byte(","))
		p.out.WriteString(`{"seq":`)
		p.out.Write(seq)
		p.out.WriteString(`,"results":[`)
		for i := range bytes.Count(line, []byte(`"op"`)) {
			if i > 0 {
				p.out.WriteByte(',')
			}
			p.out.Write(result)
		}
		p.out.WriteString("]}\n")
		p.out.Flush()
	}
}

// fastText is the same in plain text.
func (p *port) fastText() {
	var seq []byte
	var i int
	for p.in.Scan() {
		words := bytes.Split(p.in.Bytes(), []byte(" "))
		switch words[0][0] {
		case 'c':
			seq, i = bytes.Clone(words[1]), 0
		case 's':
			p.out.WriteString("r ")
			p.out.Write(seq)
			p.out.WriteString(" " + strconv.Itoa(i) + " allow 4 0 334 - -\n")
			i++
		case 'e':
			p.out.WriteString("end ")
			p.out.Write(seq)
			p.out.WriteString("\n")
			p.out.Flush()
		case 'b':
			return
		default:
			p.helloText()
		}
	}
}
