package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"weir/vectors"
)

// vectorsCommand is the command vectors: what it is to do is its first word.
func vectorsCommand(a app, args []string) (int, error) {
	if len(args) == 0 {
		return usage, fmt.Errorf("export or lint is missing; \"weir vectors export -h\" shows how")
	}
	switch args[0] {
	case "export":
		return export(a, args[1:])
	case "lint":
		return lint(a, args[1:])
	case "help", "-h", "-help", "--help":
		fmt.Fprint(a.out, "weir vectors export --c-header FILE | --text DIR | --json DIR\nweir vectors lint FILE...\n")
		return good, nil
	}
	return usage, fmt.Errorf("no command %q; there are export and lint", args[0])
}

// export writes the suite in another form.
func export(a app, args []string) (int, error) {
	f := flags("vectors export")
	header := f.String("c-header", "", "write one C11 header, for a test in C, to this `file`; - is standard output")
	text := f.String("text", "", "write the text form, a file a category, to this `folder`")
	asJSON := f.String("json", "", "write the folder as it is built in, or --vectors laid out, to this `folder`")
	from := f.String("vectors", "", "a vector `file or folder` to take instead of the suite that is built in")
	if err := parse(a, f, args); err != nil {
		return usage, err
	}
	given := 0
	for _, one := range []string{*header, *text, *asJSON} {
		if one != "" {
			given++
		}
	}
	if given != 1 {
		return usage, fmt.Errorf("%d of c-header, text and json are given, must be one", given)
	}
	suite, err := load(*from)
	if err != nil {
		return usage, err
	}
	switch {
	case *header == "-":
		err = vectors.WriteCHeader(a.out, suite)
	case *header != "":
		err = writeFile(*header, func(w io.Writer) error { return vectors.WriteCHeader(w, suite) })
	case *text != "":
		err = writeFiles(*text, vectors.TextFiles(suite))
	default:
		err = exportJSON(*asJSON, suite, *from == "")
	}
	if err != nil {
		return usage, err
	}
	return good, nil
}

// exportJSON writes the files of a suite, and those that explain them if it is the one that is built in.
func exportJSON(to string, s vectors.Suite, builtIn bool) error {
	files, err := vectors.JSONFiles(s)
	if err != nil {
		return err
	}
	if builtIn {
		tree := vectors.FS()
		err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			files[name], err = fs.ReadFile(tree, name)
			return err
		})
	}
	if err != nil {
		return err
	}
	return writeFiles(to, files)
}

// writeFiles writes files by their names with slashes, under a folder that it makes if need be.
func writeFiles(to string, files map[string][]byte) error {
	for name, text := range files {
		path := filepath.Join(to, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// lint checks vector files, one line for each that is wrong.
func lint(a app, args []string) (int, error) {
	f := flags("vectors lint")
	if err := f.Parse(args); err != nil || f.NArg() == 0 {
		return usage, parse(a, f, args, "FILE...")
	}
	problems, err := vectors.Lint(f.Args()...)
	if err != nil {
		return usage, err
	}
	for _, problem := range problems {
		fmt.Fprintln(a.out, problem)
	}
	if len(problems) > 0 {
		return wrong, nil
	}
	fmt.Fprintf(a.out, "%d files are as they should be\n", f.NArg())
	return good, nil
}
