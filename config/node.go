package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// kind is what a node is.
type kind uint8

const (
	scalar kind = iota // text, a number or a truth value, as it is written
	null
	mapping
	sequence
)

func (k kind) String() string { return [...]string{"a value", "nothing", "a mapping", "a list"}[k] }

// node is a piece of a file, whether it was YAML or JSON.
type node struct {
	kind kind
	line int
	text string
	keys []*node // of a mapping, as many as nodes
	node []*node
}

// deepest is how deep a file may be nested. What the package reads has four levels.
const deepest = 32

// read is a file as a tree. The error is a Fault.
func read(name string, text []byte) (*node, error) {
	if strings.EqualFold(filepath.Ext(name), ".json") {
		return readJSON(name, text)
	}
	return readYAML(name, text)
}

func readYAML(name string, text []byte) (*node, error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	var document, more yaml.Node
	switch err := d.Decode(&document); {
	case errors.Is(err, io.EOF):
		return &node{kind: null, line: 1}, nil
	case err != nil:
		return nil, yamlFault(name, err)
	}
	switch err := d.Decode(&more); {
	case err == nil:
		return nil, Fault{name, more.Line, "has a second document, must have one"}
	case !errors.Is(err, io.EOF):
		return nil, yamlFault(name, err)
	}
	return fromYAML(name, document.Content[0], 0)
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// yamlFault is what the library says, with its line as ours.
func yamlFault(name string, err error) error {
	said := strings.ReplaceAll(err.Error(), "\n", " ")
	at := yamlLine.FindStringSubmatch(said)
	if at == nil {
		return Fault{name, 1, said}
	}
	line, _ := strconv.Atoi(at[1]) // none is 0
	return Fault{name, max(1, line), said[len(at[0]):]}
}

func fromYAML(name string, from *yaml.Node, depth int) (*node, error) {
	n := &node{line: from.Line, text: from.Value}
	switch {
	case depth > deepest:
		return nil, Fault{name, from.Line, fmt.Sprintf("is nested more than %d deep", deepest)}
	case from.Kind == yaml.AliasNode:
		return nil, Fault{name, from.Line, "has an alias: write out what it stands for"}
	case from.Kind == yaml.MappingNode:
		n.kind = mapping
	case from.Kind == yaml.SequenceNode:
		n.kind = sequence
	case from.ShortTag() == "!!null":
		n.kind = null
	}
	for i, child := range from.Content {
		c, err := fromYAML(name, child, depth+1)
		if err != nil {
			return nil, err
		}
		if n.kind == mapping && i%2 == 0 {
			n.keys = append(n.keys, c)
		} else {
			n.node = append(n.node, c)
		}
	}
	return n, nil
}

// jsonReader reads tokens and tells their lines.
type jsonReader struct {
	name    string
	text    []byte
	d       *json.Decoder
	counted int64 // how far the lines have been counted
	lines   int
}

func readJSON(name string, text []byte) (*node, error) {
	r := &jsonReader{name: name, text: text, d: json.NewDecoder(bytes.NewReader(text))}
	r.d.UseNumber()
	n, err := r.value(0)
	if err != nil {
		return nil, err
	}
	if _, err := r.d.Token(); !errors.Is(err, io.EOF) {
		return nil, r.fault("has something after its end")
	}
	return n, nil
}

// line is where the last token ended; no token spans lines.
func (r *jsonReader) line() int {
	at := r.d.InputOffset()
	r.lines += bytes.Count(r.text[r.counted:at], []byte("\n"))
	r.counted = at
	return 1 + r.lines
}

func (r *jsonReader) fault(text string) error { return Fault{r.name, r.line(), text} }

func (r *jsonReader) token() (json.Token, error) {
	token, err := r.d.Token()
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		at := min(max(0, syntax.Offset-1), int64(len(r.text)))
		return nil, Fault{r.name, 1 + bytes.Count(r.text[:at], []byte("\n")), syntax.Error()}
	case errors.Is(err, io.EOF):
		return nil, r.fault("ends too early")
	case err != nil:
		return nil, r.fault(err.Error())
	}
	return token, nil
}

func (r *jsonReader) value(depth int) (*node, error) {
	token, err := r.token()
	if err != nil {
		return nil, err
	}
	n := &node{line: r.line()}
	switch token := token.(type) {
	case nil:
		n.kind = null
	case json.Delim:
		if depth > deepest {
			return nil, r.fault(fmt.Sprintf("is nested more than %d deep", deepest))
		}
		n.kind = sequence
		if token == '{' {
			n.kind = mapping
		}
		return n, r.inside(n, depth)
	default:
		n.text = fmt.Sprint(token)
	}
	return n, nil
}

// inside reads the children of an object or array, and its end.
func (r *jsonReader) inside(n *node, depth int) error {
	for r.d.More() {
		if n.kind == mapping {
			key, err := r.token()
			if err != nil {
				return err
			}
			n.keys = append(n.keys, &node{line: r.line(), text: fmt.Sprint(key)})
		}
		child, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		n.node = append(n.node, child)
	}
	_, err := r.token()
	return err
}
