// Command write writes the vector files of the five policies into the folder vectors, removes those that no case stands
// behind any more, and writes mutants.json, which says what of the faults of package mutants the files catch. Run it in
// the root of the module: go run ./internal/vectorgen/write
package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"weir/internal/mutants"
	"weir/internal/vectorgen"
	"weir/vectors"
)

func main() {
	if err := write("vectors"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(root string) error {
	if _, err := os.Stat(filepath.Join(root, "VERSION")); err != nil {
		return fmt.Errorf("run this in the root of the module: %w", err)
	}
	files, err := vectorgen.Generate()
	if err != nil {
		return err
	}
	long, err := vectorgen.LongFiles(true)
	if err != nil {
		return err
	}
	maps.Copy(files, long)
	for name, data := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return err
		}
	}
	if err := removeStale(root, files); err != nil {
		return err
	}
	return writeMutants(root)
}

// writeMutants puts what has been written through every mutant.
func writeMutants(root string) error {
	suite, err := vectors.LoadPath(root)
	if err != nil {
		return err
	}
	score, err := mutants.Run(context.Background(), suite, mutants.Options{})
	if err != nil {
		return err
	}
	page, err := mutants.Page(suite, score)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "mutants.json"), page, 0o644)
}

func removeStale(root string, files map[string][]byte) error {
	for _, name := range append(vectors.Policies(), "long") {
		found, err := filepath.Glob(filepath.Join(root, name, "*.json"))
		if err != nil {
			return err
		}
		for _, path := range found {
			if files[name+"/"+filepath.Base(path)] != nil {
				continue
			}
			if err := os.Remove(path); err != nil {
				return err
			}
		}
	}
	return nil
}
