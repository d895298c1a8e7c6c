package turn

import (
	"fmt"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/treepath"
)

// Forbidden returns the first rule that a change breaks, and the path, or "". Paths are compared under the rules of every
// file system that the commit may be checked out on.
func Forbidden(changes []model.Change, globs []string, maxFile int64) (file, rule string) {
	for _, c := range changes {
		if g := treepath.Matched(c.Path, globs); g != "" {
			return c.Path, "forbid_paths " + g
		}
		switch {
		case treepath.InGit(c.Path):
			return c.Path, "a file in a path that git treats as its own directory"
		case c.Mode == "160000" && c.OldMode != "160000":
			return c.Path, "a new submodule"
		case c.Mode == "120000" && treepath.Leaves(c.Path, c.Target):
			return c.Path, "a symbolic link that leaves the tree"
		case c.Mode == "120000" && treepath.Above(c.Path, globs) != "":
			return c.Path, "a symbolic link that replaces a directory of forbid_paths " + treepath.Above(c.Path, globs)
		case c.Size > maxFile:
			return c.Path, fmt.Sprintf("a file over %d MB (max_file_mb)", maxFile>>20)
		}
	}
	return "", ""
}

// Matched is the first of the globs that a path matches exactly, or "": for allow lists.
func Matched(path string, globs []string) string {
	for _, g := range globs {
		if ok, _ := doublestar.Match(g, path); ok { // the settings were validated
			return g
		}
	}
	return ""
}
