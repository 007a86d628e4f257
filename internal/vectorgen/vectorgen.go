/*
Package vectorgen writes the vector files of the five policies. The cases are typed here by hand as questions only: a
limit, the steps, and a comment that says what they prove. The answers are asked of two oracles that share no code,
the production policies and internal/oracle, and a file is written only where both give the same answer in every field.
A few cases carry pins besides: answers worked out by hand, which both must give.
*/
package vectorgen

import (
	"errors"
	"fmt"
	"path"

	"weir/dualbucket"
	"weir/gcra"
	"weir/leakybucket"
	"weir/policy"
	"weir/slidinglog"
	"weir/tokenbucket"
	"weir/vectors"
)

// category is the rows of one file.
type category struct {
	name string
	rows []row
}

// book is the categories of one policy.
type book struct {
	policy     string
	make       policy.Maker
	categories []category
}

// books are all cases there are.
func books() []book {
	return []book{
		{"gcra", gcra.New, meterCategories(nil)},
		{"tokenbucket", tokenbucket.New, meterCategories(tokenRows())},
		{"leakybucket", leakybucket.New, meterCategories(leakyRows())},
		{"slidinglog", slidinglog.New, logCategories()},
		{"dualbucket", dualbucket.New, dualCategories()},
	}
}

// Generate answers every case and lays out every file: its path under vectors/, with slashes, and its bytes. The error
// has a line for each fault: the case and the step, the field, and the two answers that differ.
func Generate() (map[string][]byte, error) { return generate(books()) }

func generate(all []book) (map[string][]byte, error) {
	files := map[string][]byte{}
	var faults []error
	seen := map[string]bool{}
	for _, b := range all {
		for _, c := range b.categories {
			file := vectors.File{Format: vectors.Format, Policy: b.policy, Category: c.name}
			for _, r := range c.rows {
				done, err := answer(b, c.name, r)
				if err == nil && seen[done.ID] {
					err = errors.New("there are two of that name")
				}
				if err == nil {
					err = checkKills(file, &done)
				}
				if err != nil {
					faults = append(faults, fmt.Errorf("case %s: %w", done.ID, err))
				}
				seen[done.ID] = true
				file.Cases = append(file.Cases, done)
			}
			text, err := vectors.Layout(file)
			if err != nil {
				faults = append(faults, err)
			}
			files[path.Join(b.policy, c.name+".json")] = text
		}
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return files, nil
}
