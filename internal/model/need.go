package model

import (
	"strings"
	"time"
)

// NeedKind says what a need is about.
type NeedKind string

// The kinds of needs.
const (
	NeedBlock NeedKind = "block" // a pull request on which nothing happens before somebody decides
	NeedMerge NeedKind = "merge" // a request to merge that was refused, or that waits for people
	NeedFork  NeedKind = "fork"  // the pull request of a fork whose evaluation leaves it to people
	NeedIssue NeedKind = "issue" // an issue whose work waits for somebody's word
)

// Need is something that waits for a person, as status, blocked list, why, the job summary and the dashboard show it.
type Need struct {
	Kind     NeedKind  `json:"kind"`
	Number   int       `json:"number"`
	Issue    int       `json:"issue"` // that it is for, or that it is; 0: none
	Title    string    `json:"title"`
	Headline string    `json:"headline"` // what to do, in a few words
	Reason   string    `json:"reason"`   // the code of what happened
	Who      string    `json:"who"`      // who may do it
	Next     string    `json:"next"`     // what to type or to do then
	Expected string    `json:"expected"` // head; "" where no head is in question
	Observed string    `json:"observed"`
	Since    time.Time `json:"since"`
	URL      string    `json:"url"` // of the very comment that says so
}

// Ways are the ways to do Next: commands to post as a comment, and all others in words.
func (n Need) Ways() (words string, commands []string) {
	var rest []string
	for way := range strings.SplitSeq(n.Next, ", or ") {
		if strings.HasPrefix(way, "/mergexo ") {
			commands = append(commands, way)
		} else {
			rest = append(rest, way)
		}
	}
	return strings.Join(rest, ", or "), commands
}

// Todo is what to do in one line: what, who may, and what to type or do then.
func (n Need) Todo() string { return n.Headline + " (" + n.Who + "): " + n.Next }
