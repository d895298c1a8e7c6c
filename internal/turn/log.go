package turn

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/mergexo/mergexo/internal/markdown"
)

// LogLimit is how many characters of a job's log are kept, notices included.
const LogLimit = 20_000

const (
	// rawLog is how many bytes of a log's end are processed.
	rawLog = 50 * LogLimit
	// afterError is how many lines are kept after the last error of a long log: the failed job's clean-up follows it.
	afterError = 20
	cutLog     = "[cut: the end is shown]\n"
)

var (
	stamp = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z ?`)
	// logMarker matches a workflow command in a job's log
	// (https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands).
	logMarker = regexp.MustCompile(`^##\[([a-z-]+)\]`)
)

// CleanLog makes a job's log readable: its end, up to LogLimit characters, without timestamps, colors, command markers,
// progress bars and invisible characters. cut says that raw is the end of a longer log.
func CleanLog(raw []byte, cut bool) string {
	if len(raw) > rawLog {
		raw, cut = raw[len(raw)-rawLog:], true
	}
	text := strings.TrimPrefix(strings.ToValidUTF8(string(raw), "\uFFFD"), "\uFEFF")
	if _, rest, more := strings.Cut(text, "\n"); cut && more { // it starts within a line
		text = rest
	}
	var lines []string
	failed := -1
	for line := range strings.SplitSeq(strings.TrimRight(markdown.Uncolored(text), "\r\n"), "\n") {
		line, marker := logLine(line)
		if marker == "endgroup" {
			continue
		}
		if marker == "error" {
			failed = len(lines)
		}
		lines = append(lines, line)
	}
	if last := failed + 1 + afterError; failed >= 0 && len(lines) > last && size(lines) > LogLimit {
		lines = append(lines[:last], fmt.Sprintf("[cut: %s after the last error]", markdown.Count(len(lines)-last, "line")))
	}
	return logEnd(strings.Trim(strings.Join(lines, "\n"), "\n"), LogLimit, cut)
}

// logLine is what people see of a line, and the workflow command in it; "" for none.
func logLine(line string) (shown, marker string) {
	line = strings.TrimRight(stamp.ReplaceAllString(line, ""), "\r")
	line = line[strings.LastIndexByte(line, '\r')+1:]
	if m := logMarker.FindStringSubmatch(line); m != nil {
		line, marker = line[len(m[0]):], m[1]
	}
	if marker == "error" || marker == "warning" {
		line = marker + ": " + line
	}
	return strings.TrimRight(markdown.Seen(line), " \t"), marker
}

func size(lines []string) int {
	n := 0
	for _, l := range lines {
		n += utf8.RuneCountInString(l) + 1
	}
	return n
}

// logEnd is the end of a log up to a limit, starting at a line if possible, with a notice if it is cut.
func logEnd(text string, most int, cut bool) string {
	runes := []rune(text)
	if !cut && len(runes) <= most {
		return text
	}
	if room := most - len(cutLog); len(runes) > room {
		text = string(runes[len(runes)-room:])
		if _, rest, more := strings.Cut(text, "\n"); more {
			text = rest
		}
	}
	return cutLog + text
}
