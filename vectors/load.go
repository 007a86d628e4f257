package vectors

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// What Load refuses to read: no suite comes near, and a file that does is not one.
const (
	maxFileBytes  = 64 << 20
	maxTotalBytes = 512 << 20
	maxFiles      = 4096
)

// Suite is what Load read.
type Suite struct {
	// Version is the suite's, from its file VERSION; "" if there is none.
	Version string
	// Files are the cases by policy and category, in the order of Policies and Categories.
	Files []File
	// Hashes are the hash vectors.
	Hashes []HashFile
	// Rules are what the cases may say they test.
	Rules map[string]Rule
}

// Cases is how many cases the suite has, hash vectors included.
func (s Suite) Cases() int {
	n := 0
	for _, f := range s.Files {
		n += len(f.Cases)
	}
	for _, h := range s.Hashes {
		n += len(h.Cases)
	}
	return n
}

// Load reads a suite or a part of one: every .json file of the tree but rules.json, mutants.json and the folders schema,
// long, text and testdata. Rules are the tree's own, or those of this package if it has no rules.json. Fields that it
// does not know are ignored; any fault in one that it does know is a *FileError of one line.
func Load(tree fs.FS) (Suite, error) {
	l := loader{tree: tree, seen: map[string]string{}}
	names, err := l.list()
	if err != nil {
		return Suite{}, err
	}
	return l.load(names)
}

// LoadPath reads the suite in a folder, or the single file of one.
func LoadPath(name string) (Suite, error) {
	info, err := os.Stat(name)
	if err != nil {
		return Suite{}, notRead(name, err)
	}
	if info.IsDir() {
		s, err := Load(os.DirFS(name))
		return s, under(name, err)
	}
	dir, file := filepath.Split(filepath.Clean(name))
	l := loader{tree: os.DirFS(cmp.Or(dir, ".")), seen: map[string]string{}}
	s, err := l.load([]string{file})
	return s, under(dir, err)
}

// under names a file as the caller would find it.
func under(dir string, err error) error {
	if fault := (*FileError)(nil); errors.As(err, &fault) {
		fault.File = filepath.Join(dir, fault.File)
	}
	return err
}

func notRead(name string, err error) error {
	if inner := (*fs.PathError)(nil); errors.As(err, &inner) {
		err = inner.Err
	}
	return place{file: name, step: -1}.fault("", "", "cannot be read: %v", err)
}

// loader reads the files of one tree.
type loader struct {
	tree  fs.FS
	total int64
	rules map[string]Rule
	seen  map[string]string // case id -> its file
}

// list names the vector files of the tree.
func (l *loader) list() ([]string, error) {
	skipped := []string{"schema", "long", "text", "testdata"}
	var names []string
	err := fs.WalkDir(l.tree, ".", func(name string, d fs.DirEntry, err error) error {
		base := path.Base(name)
		switch {
		case err != nil:
			return notRead(name, err)
		case d.IsDir() && name != "." && (contains(skipped, base) || strings.HasPrefix(base, ".")):
			return fs.SkipDir
		case d.IsDir() || path.Ext(base) != ".json" || base == "rules.json" || base == "mutants.json":
			return nil
		case len(names) == maxFiles:
			return place{file: name, step: -1}.fault("", "", "one file too many: at most %d", maxFiles)
		}
		names = append(names, name)
		return nil
	})
	if err == nil && len(names) == 0 {
		err = place{file: ".", step: -1}.fault("", "", "no vector file here: none is named *.json")
	}
	return names, err
}

func (l *loader) load(names []string) (Suite, error) {
	var s Suite
	var err error
	if l.rules, err = l.readRules(); err != nil {
		return Suite{}, err
	}
	s.Rules = l.rules
	if version, err := l.read("VERSION"); err == nil {
		s.Version = strings.TrimSpace(string(version))
	}
	for _, name := range names {
		if err := l.one(name, &s); err != nil {
			return Suite{}, err
		}
	}
	slices.SortStableFunc(s.Files, func(a, b File) int {
		return cmp.Or(cmp.Compare(rank(Policies(), a.Policy), rank(Policies(), b.Policy)),
			cmp.Compare(rank(Categories(), a.Category), rank(Categories(), b.Category)),
			cmp.Compare(a.Category, b.Category))
	})
	return s, nil
}

// one reads one file into the suite.
func (l *loader) one(name string, s *Suite) error {
	raw, err := l.read(name)
	if err != nil {
		return err
	}
	r := read(place{file: name, step: -1}, raw)
	r.format()
	if r.has("hash") {
		h := l.hashFile(r)
		s.Hashes = append(s.Hashes, h)
		return r.err
	}
	f := l.file(r)
	s.Files = append(s.Files, f)
	return r.err
}

// read reads a whole file within bounds.
func (l *loader) read(name string) ([]byte, error) {
	at := place{file: name, step: -1}
	info, err := fs.Stat(l.tree, name)
	switch {
	case err != nil:
		return nil, notRead(name, err)
	case !info.Mode().IsRegular():
		return nil, at.fault("", "", "not a regular file")
	case info.Size() > maxFileBytes:
		return nil, at.fault("", "", "has %d bytes, at most %d are read", info.Size(), maxFileBytes)
	}
	f, err := l.tree.Open(name)
	if err != nil {
		return nil, notRead(name, err)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return nil, notRead(name, err)
	}
	if l.total += int64(len(raw)); len(raw) > maxFileBytes || l.total > maxTotalBytes {
		return nil, at.fault("", "", "too large: at most %d bytes a file and %d in all", maxFileBytes, maxTotalBytes)
	}
	return raw, nil
}

// readRules reads the tree's rules.json, or this package's if there is none.
func (l *loader) readRules() (map[string]Rule, error) {
	from := *l
	if _, err := fs.Stat(l.tree, "rules.json"); errors.Is(err, fs.ErrNotExist) {
		from.tree = files
	}
	raw, err := from.read("rules.json")
	if err != nil {
		return nil, err
	}
	at := place{file: "rules.json", step: -1}
	r := read(at, raw)
	r.format()
	r.need("rules")
	if r.err != nil {
		return nil, r.err
	}
	all := read(at, r.fields["rules"])
	rules := map[string]Rule{}
	for _, id := range slices.Sorted(maps.Keys(all.fields)) {
		rule := read(place{file: at.file, step: -1, prefix: id + "."}, all.fields[id])
		rule.need("says", "where", "catches")
		rules[id] = Rule{rule.text("says"), rule.text("where"), rule.text("catches")}
		if rule.err != nil {
			return nil, rule.err
		}
	}
	return rules, all.err
}

// rank is where name stands in order; after everything if it does not.
func rank(order []string, name string) int {
	if i := slices.Index(order, name); i >= 0 {
		return i
	}
	return len(order)
}

func contains(all []string, one string) bool { return slices.Contains(all, one) }

func list(all []string) string { return strings.Join(all, ", ") }
