package turn

import (
	"fmt"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/mergexo/mergexo/internal/model"
)

// Forbidden gives the first rule that a change breaks, and the path, or "".
func Forbidden(changes []model.Change, globs []string, maxFile int64) (file, rule string) {
	for _, c := range changes {
		if g := Matched(c.Path, globs); g != "" {
			return c.Path, "forbid_paths " + g
		}
		switch {
		case c.Mode == "160000" && c.OldMode != "160000":
			return c.Path, "a new submodule"
		case c.Mode == "120000" && leaves(c.Path, c.Target):
			return c.Path, "a symbolic link that leaves the tree"
		case c.Size > maxFile:
			return c.Path, fmt.Sprintf("a file over %d MB (max_file_mb)", maxFile>>20)
		}
	}
	return "", ""
}

// Matched is the first of the globs that a path matches, or "".
func Matched(path string, globs []string) string {
	for _, g := range globs {
		if ok, _ := doublestar.Match(g, path); ok { // the settings were checked: the pattern is well-formed
			return g
		}
	}
	return ""
}

func leaves(link, target string) bool {
	if path.IsAbs(target) {
		return true
	}
	p := path.Join(path.Dir(link), target)
	first, _, _ := strings.Cut(p, "/")
	return first == ".." || strings.EqualFold(first, ".git")
}
