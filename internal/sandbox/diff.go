package sandbox

import (
	"fmt"
	"strconv"
	"strings"
)

// emptyTree is what an unrelated history is compared with.
const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// fileChange is one changed file between two commits, in the words of GitHub's REST API.
type fileChange struct {
	Path, OldPath        string // OldPath differs from Path for renames only
	Status               string // added, removed, modified, renamed, copied or changed
	SHA                  string // blob after the change; the one before it for a removed file
	Additions, Deletions int
	Binary               bool
	Patch                string // from the first "@@", without the last newline; empty for binaries and pure renames
	hunks                []hunk
}

// hunk is one hunk of a patch. Its lines keep their leading ' ', '+', '-' or '\'.
type hunk struct {
	header             string
	oldStart, newStart int
	lines              []string
	position           int // of the header: the number of lines before it in the file's patch
}

// diffSpot is where a line of a file stands in a diff.
type diffSpot struct {
	hunk     string // from the hunk's header down to the line
	position int    // GitHub's position: the line's distance from the first header
}

// diff lists what changed from commit (or tree) a to b, renames followed, in git's order.
func (g gitStore) diff(r *Repository, a, b string) ([]*fileChange, error) {
	if a == "" {
		a = emptyTree
	}
	return fact(g.core, fmt.Sprint("diff ", a, b), func() ([]*fileChange, error) {
		out, err := g.run(r, "diff-tree", "-r", "-z", "-M", "--raw", "--numstat", "-p", "--no-abbrev", a, b)
		if err != nil {
			return nil, fmt.Errorf("list changes: %w", err)
		}
		raw, text, _ := strings.Cut(out, "\x00\x00") // no record of the list is empty
		files, err := parseRaw(raw)
		if err != nil {
			return nil, err
		}
		attachPatches(files, text)
		return files, nil
	})
}

var statusWords = map[byte]string{'A': "added", 'D': "removed", 'M': "modified", 'R': "renamed", 'C': "copied", 'T': "changed"}

// parseRaw reads the list of git diff-tree -z --raw --numstat: all raw records, then all numstat records.
func parseRaw(out string) ([]*fileChange, error) {
	var files []*fileChange
	fields := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	i := 0
	for ; i < len(fields) && strings.HasPrefix(fields[i], ":"); i++ {
		f := strings.Fields(fields[i]) // :oldmode newmode oldsha newsha status
		if len(f) != 5 || i+1 >= len(fields) {
			return nil, fmt.Errorf("read git diff: odd record %q", fields[i])
		}
		c := &fileChange{Status: statusWords[f[4][0]], SHA: f[3]}
		i++
		c.Path, c.OldPath = fields[i], fields[i]
		if f[4][0] == 'R' || f[4][0] == 'C' {
			i++
			c.Path = fields[i]
		}
		if c.Status == "removed" {
			c.SHA = f[2]
		}
		files = append(files, c)
	}
	for n := 0; i < len(fields) && n < len(files); i, n = i+1, n+1 {
		f := strings.SplitN(fields[i], "\t", 3) // additions, deletions, path; an empty path is followed by two for a rename
		if len(f) != 3 {
			return nil, fmt.Errorf("read git diff: odd count %q", fields[i])
		}
		files[n].Binary = f[0] == "-"
		files[n].Additions, _ = strconv.Atoi(f[0])
		files[n].Deletions, _ = strconv.Atoi(f[1])
		if f[2] == "" {
			i += 2
		}
	}
	return files, nil
}

// attachPatches cuts the text of git diff-tree -p into its files, which come in the order of the raw records. A change of
// type is two entries in the text, a deletion and a creation.
func attachPatches(files []*fileChange, text string) {
	parts := strings.Split("\n"+text, "\ndiff --git ")[1:]
	for _, f := range files {
		take := 1
		if f.Status == "changed" {
			take = 2
		}
		for ; take > 0 && len(parts) > 0; take-- {
			if _, patch, ok := strings.Cut(parts[0], "\n@@ "); ok {
				f.Patch = strings.TrimPrefix(f.Patch+"\n@@ "+patch, "\n")
			}
			parts = parts[1:]
		}
		f.hunks = parseHunks(f.Patch)
	}
}

// parseHunks reads a patch that begins at its first "@@".
func parseHunks(patch string) []hunk {
	var hunks []hunk
	if patch == "" {
		return nil
	}
	for n, line := range strings.Split(patch, "\n") {
		if strings.HasPrefix(line, "@@ ") {
			h := hunk{header: line, position: n}
			h.oldStart, h.newStart = hunkStarts(line)
			hunks = append(hunks, h)
			continue
		}
		if len(hunks) > 0 {
			h := &hunks[len(hunks)-1]
			h.lines = append(h.lines, line)
		}
	}
	return hunks
}

// hunkStarts reads "@@ -12,7 +12,9 @@ ...".
func hunkStarts(header string) (oldStart, newStart int) {
	f := strings.Fields(header)
	if len(f) < 3 {
		return 0, 0
	}
	start := func(s string) int {
		s, _, _ = strings.Cut(s[1:], ",")
		n, _ := strconv.Atoi(s)
		return n
	}
	return start(f[1]), start(f[2])
}

// spot finds a line of the new (RIGHT) or the old (LEFT) file in the patch.
func (f *fileChange) spot(side string, line int) (diffSpot, bool) {
	for _, h := range f.hunks {
		text := h.header
		oldLine, newLine := h.oldStart, h.newStart
		for n, l := range h.lines {
			text += "\n" + l
			var at int
			switch {
			case strings.HasPrefix(l, "+"):
				at = pick(side, 0, newLine)
				newLine++
			case strings.HasPrefix(l, "-"):
				at = pick(side, oldLine, 0)
				oldLine++
			case strings.HasPrefix(l, "\\"):
				continue
			default:
				at = pick(side, oldLine, newLine)
				oldLine++
				newLine++
			}
			if at == line && line > 0 {
				return diffSpot{hunk: text, position: h.position + n + 1}, true
			}
		}
	}
	return diffSpot{}, false
}

// lineAt is the inverse of spot: the side and line at a position of the patch.
func (f *fileChange) lineAt(position int) (side string, line int, ok bool) {
	for _, h := range f.hunks {
		oldLine, newLine := h.oldStart, h.newStart
		for n, l := range h.lines {
			here := h.position+n+1 == position
			switch {
			case strings.HasPrefix(l, "\\"):
			case strings.HasPrefix(l, "-"):
				if here {
					return "LEFT", oldLine, true
				}
				oldLine++
			default:
				if here {
					return "RIGHT", newLine, true
				}
				newLine++
				if !strings.HasPrefix(l, "+") {
					oldLine++
				}
			}
		}
	}
	return "", 0, false
}

// follow says where a line of the old file is in the new one, and false when it is changed or gone.
func (f *fileChange) follow(line int) (int, bool) {
	shift := 0
	for _, h := range f.hunks {
		oldLine, newLine := h.oldStart, h.newStart
		if line < oldLine {
			break
		}
		for _, l := range h.lines {
			switch {
			case strings.HasPrefix(l, "+"):
				newLine++
			case strings.HasPrefix(l, "-"):
				if oldLine == line {
					return 0, false
				}
				oldLine++
			case strings.HasPrefix(l, "\\"):
			default:
				if oldLine == line {
					return newLine, true
				}
				oldLine++
				newLine++
			}
		}
		shift = newLine - oldLine
	}
	return line + shift, true
}

func pick(side string, left, right int) int {
	if side == "LEFT" {
		return left
	}
	return right
}

// changeOf finds a file by its new path.
func changeOf(files []*fileChange, path string) *fileChange {
	for _, f := range files {
		if f.Path == path {
			return f
		}
	}
	return nil
}
