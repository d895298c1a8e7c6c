// Package treepath compares paths of a tree as file systems do. On one that folds case, .GITHUB/Workflows is .github/workflows.
package treepath

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/text/unicode/norm"
)

// Fold gives all paths the same form that some file system takes for one: letters without case and in compatibility
// decomposition, without what HFS+ ignores, without the dots, spaces and streams at the end of a name that NTFS drops, and
// with short names of NTFS for what Forbidden names. It is what git does for .git itself, and more.
// https://github.com/git/git/blob/v2.47.0/utf8.c (next_hfs_char), https://github.com/git/git/blob/v2.47.0/path.c (is_ntfs_dotgit)
func Fold(p string) string {
	p = strings.ReplaceAll(fold(p), `\`, "/")
	var names []string
	for name := range strings.SplitSeq(p, "/") {
		if i := strings.IndexByte(name, ':'); i > 0 {
			name = name[:i]
		}
		if name != "." && name != ".." {
			name = strings.TrimRight(name, ". ")
		}
		if name != "" {
			names = append(names, long(name))
		}
	}
	return strings.Join(names, "/")
}

// fold takes the case out of letters, and what is not to be seen.
func fold(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Variation_Selector) {
			return -1
		}
		return unicode.ToLower(unicode.ToUpper(r)) // a letter may have several small ones
	}, norm.NFKD.String(strings.ToValidUTF8(s, "\uFFFD")))
	return strings.ReplaceAll(s, "ß", "ss") // the only one of https://unicode.org/Public/UNIDATA/CaseFolding.txt, status F, that NFKD leaves and file names have
}

// shortName is a name that NTFS makes for programs which know names of eight and three letters only.
// https://learn.microsoft.com/windows/win32/fileio/naming-a-file#short-vs-long-names
var shortName = regexp.MustCompile(`^([^~.]{2,6})~[0-9]+(\.[^.]{0,3})?$`)

// shorts are the beginnings of the short names of what Forbidden names; gi7eba is what NTFS hashes .gitmodules to
// (is_ntfs_dotgitmodules in git's path.c).
var shorts = map[string]string{
	"git": ".git", "github": ".github", "workfl": "workflows", "codeow": "codeowners", "mergex": "mergexo.toml", "gitmod": ".gitmodules", "gi7eba": ".gitmodules",
}

func long(name string) string {
	if m := shortName.FindStringSubmatch(name); m != nil {
		return cmp.Or(shorts[m[1]], name)
	}
	return name
}

// Owners is how a list of globs names the file of code owners in each of the places in which GitHub looks for it.
// https://docs.github.com/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners#codeowners-file-location
const Owners = "CODEOWNERS"

// places are the globs that one entry of a list stands for.
func places(glob string) []string {
	if glob == Owners {
		return []string{Owners, ".github/" + Owners, "docs/" + Owners}
	}
	return []string{glob}
}

// Matched is the first of the globs that a path matches, as it is or folded, or "". Owners stands for its three places.
func Matched(p string, globs []string) string {
	folded := Fold(p)
	return first(globs, func(glob string) bool {
		// The settings were checked: the glob is well-formed. Folded it may not be, and then matches nothing.
		plain, _ := doublestar.Match(glob, p)
		same, _ := doublestar.Match(fold(glob), folded)
		return plain || same
	})
}

// Above is the first of the globs that can only match something below a path, or "": who puts a link in the place of that
// directory decides what is there.
func Above(p string, globs []string) string {
	below := Fold(p) + "/"
	return first(globs, func(glob string) bool {
		dir, _ := doublestar.SplitPattern(fold(glob))
		return strings.HasPrefix(dir+"/", below)
	})
}

// first is the first entry of a list that stands for a glob of which is holds, or "".
func first(list []string, is func(glob string) bool) string {
	at := slices.IndexFunc(list, func(entry string) bool { return slices.ContainsFunc(places(entry), is) })
	if at < 0 {
		return ""
	}
	return list[at]
}

// InGit says that a path leads into a directory which git takes for its own somewhere.
func InGit(p string) bool {
	return slices.Contains(strings.Split(Fold(p), "/"), ".git")
}

// Leaves says that a symbolic link of a tree leads out of it, or may: to an absolute path, above the top, into the git
// directory, or up again behind a name, which can be a link as well.
func Leaves(link, target string) bool {
	target = strings.ReplaceAll(target, `\`, "/")
	if path.IsAbs(target) || drive.MatchString(target) || InGit(target) {
		return true
	}
	names := slices.DeleteFunc(strings.Split(target, "/"), func(name string) bool { return name == "" || name == "." })
	up := slices.IndexFunc(append(names, ""), func(name string) bool { return name != ".." })
	return up > strings.Count(path.Clean(link), "/") || slices.Contains(names[up:], "..")
}

// drive is a path of Windows that begins with a drive.
var drive = regexp.MustCompile(`^[A-Za-z]:`)

// Workflows is where GitHub looks for workflows.
const Workflows = ".github/workflows"

// Forbidden are the globs of the files that an agent must not change where the settings say nothing else.
func Forbidden() []string {
	return []string{Workflows + "/**", ".github/actions/**", ".github/mergexo/**", ".github/mergexo.toml", Owners, ".gitmodules"}
}
