package vectors

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Lint checks vector files as the suite's own must be: what Load checks, ids over all of the files together, a comment
// and a rule for each case, a place that fits, and a layout that is Layout's to the byte. It gives a line for each
// fault: the first that keeps a file from being read, or all others. The rules are those of a rules.json beside the file
// or in the folder above, else the built-in ones. The error is about names that are no files.
func Lint(names ...string) (problems []string, err error) {
	seen := map[string]string{}
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return nil, notRead(name, err)
		}
		if !info.Mode().IsRegular() {
			return nil, notRead(name, errors.New("not a regular file"))
		}
		for _, fault := range lintFile(name, seen) {
			problems = append(problems, fault.Error())
		}
	}
	return problems, nil
}

// lintFile gives the faults of one file; seen are the ids so far.
func lintFile(name string, seen map[string]string) []error {
	dir, base := filepath.Split(filepath.Clean(name))
	l := loader{tree: os.DirFS(filepath.Clean("./" + dir)), seen: seen}
	if filepath.IsAbs(name) {
		l.tree = os.DirFS(dir)
	}
	var s Suite
	err := l.rulesNear(filepath.Dir(name))
	if err == nil {
		err = l.one(base, &s)
	}
	if known := (*FileError)(nil); errors.As(err, &known) {
		known.File = name
	}
	if err != nil {
		return []error{err}
	}
	raw, err := l.read(base)
	if err != nil {
		return []error{err}
	}
	at := place{file: name, step: -1}
	if len(s.Hashes) > 0 {
		text, err := LayoutHash(s.Hashes[0])
		return append(misplaced(at, "hash", s.Hashes[0].Hash), different(at, raw, text, err)...)
	}
	f := s.Files[0]
	text, err := Layout(f)
	faults := append(misplaced(at, f.Policy, f.Category), bare(at, f)...)
	return append(faults, different(at, raw, text, err)...)
}

// rulesNear reads the rules beside a file or in the folder above.
func (l *loader) rulesNear(dir string) (err error) {
	from := loader{tree: os.DirFS(dir)}
	if _, err := os.Stat(filepath.Join(dir, "rules.json")); err != nil {
		from.tree = os.DirFS(filepath.Join(dir, ".."))
	}
	l.rules, err = from.readRules()
	return err
}

// misplaced says that a file is not where its content belongs.
func misplaced(at place, folder, base string) []error {
	path, err := filepath.Abs(at.file)
	if err != nil {
		return []error{notRead(at.file, err)}
	}
	var faults []error
	if want := base + ".json"; filepath.Base(path) != want {
		faults = append(faults, at.fault("", "", "must be named %s", want))
	}
	if filepath.Base(filepath.Dir(path)) != folder {
		faults = append(faults, at.fault("", "", "must be in a folder named %s", folder))
	}
	return faults
}

// bare finds what the suite asks of a case and Load does not.
func bare(at place, f File) []error {
	var faults []error
	if !contains(Categories(), f.Category) {
		faults = append(faults, at.fault("category", f.Category, "must be one of %s", list(Categories())))
	}
	for _, c := range f.Cases {
		of := at
		of.id = c.ID
		if c.Comment == "" {
			faults = append(faults, of.fault("comment", "", "missing"))
		}
		if len(c.Rules) == 0 {
			faults = append(faults, of.fault("rules", "", "must name at least one"))
		}
		for i, s := range c.Steps {
			if w := s.Want; w != nil && w.RetryAfter != nil && (*w.RetryAfter == Never) == (w.Outcome == "allow" || w.Outcome == "deny") {
				of.step = i
				faults = append(faults, of.fault("want.retry_after", waitText(*w.RetryAfter), "does not go with outcome %s", w.Outcome))
			}
		}
	}
	return faults
}

// different names the first line that is not laid out as it must be. Fields that nobody knows are such a difference too.
func different(at place, raw, text []byte, err error) []error {
	if err != nil {
		return []error{at.fault("", "", "cannot be laid out: %v", err)}
	}
	got, want := bytes.Split(raw, []byte("\n")), bytes.Split(text, []byte("\n"))
	for i, line := range want {
		if i == len(got) || !bytes.Equal(line, got[i]) {
			return []error{at.fault("", "", "line %d: formatting: must be %q", i+1, cut(line))}
		}
	}
	if len(got) > len(want) {
		return []error{at.fault("", "", "line %d: formatting: the file must end before it", len(want)+1)}
	}
	return nil
}

func cut(line []byte) string {
	if len(line) > 120 {
		return fmt.Sprintf("%s...", line[:120])
	}
	return string(line)
}
