package vectors

import (
	"errors"
	"fmt"
	"strings"
)

// SplitCommand splits a command line into a program and its arguments, as a shell would, but there is no shell: nothing
// is expanded, substituted, redirected or chained, and every other character is itself.
//
//   - Spaces, tabs and line ends separate words.
//   - Between ' and ' everything is literal.
//   - Between " and " everything is literal but \" and \\, which are " and \.
//   - Elsewhere \ makes the next character literal. Put a path of Windows between quotes of either sort.
//   - Quoted parts and others that touch are one word; ” or "" alone is an empty one.
func SplitCommand(text string) ([]string, error) {
	s := splitter{text: text}
	for s.at < len(text) {
		if err := s.next(); err != nil {
			return nil, err
		}
	}
	s.end()
	if len(s.words) == 0 || s.words[0] == "" {
		return nil, errors.New("names no program")
	}
	return s.words, nil
}

type splitter struct {
	text  string
	at    int
	words []string
	word  strings.Builder
	open  bool // a word has begun, though it may be empty
}

func (s *splitter) end() {
	if s.open {
		s.words = append(s.words, s.word.String())
		s.word.Reset()
		s.open = false
	}
}

// next takes one character, or a whole quoted part.
func (s *splitter) next() error {
	c := s.text[s.at]
	s.at++
	switch c {
	case ' ', '\t', '\r', '\n':
		s.end()
		return nil
	case '\'', '"':
		s.open = true
		return s.quoted(c)
	case '\\':
		if s.at == len(s.text) {
			return errors.New(`ends in a lone \`)
		}
		c = s.text[s.at]
		s.at++
	}
	s.open = true
	s.word.WriteByte(c)
	return nil
}

// quoted takes what stands up to the next quote.
func (s *splitter) quoted(quote byte) error {
	from := s.at
	for s.at < len(s.text) {
		c := s.text[s.at]
		s.at++
		if c == quote {
			return nil
		}
		if quote == '"' && c == '\\' && s.at < len(s.text) && (s.text[s.at] == '"' || s.text[s.at] == '\\') {
			c = s.text[s.at]
			s.at++
		}
		s.word.WriteByte(c)
	}
	return fmt.Errorf("has a %c at byte %d that is not closed", quote, from-1)
}

// Quote writes words as one line that SplitCommand, and a POSIX shell, split into the same words.
func Quote(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		if w == "" || strings.ContainsFunc(w, special) {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		quoted[i] = w
	}
	return strings.Join(quoted, " ")
}

// special says whether a character may mean something to a shell.
func special(r rune) bool {
	plain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	return !plain && !strings.ContainsRune("-_./=:,@+", r)
}
