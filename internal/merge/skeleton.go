package merge

import "github.com/mergexo/mergexo/internal/model"

// Conflict is one file that cannot be merged.
type Conflict struct {
	Path  string
	Kind  string // git's word for it: content, modify/delete, ...
	Hunks string // with conflict markers; "" where there is no text to show
}

// Culprit is a commit of the base that touches what conflicts, and the pull request it came with; 0: none is known.
type Culprit struct {
	model.Commit
	Pull int
}

// Conflicts is why the commits of a branch do not go onto its base.
type Conflicts struct {
	Commit   model.Commit // of the branch, at which it stopped; zero: the whole change at once
	Files    []Conflict
	More     int // files that are not among them
	Culprits []Culprit
}

// TestRun is one run of the tests before a merge.
type TestRun struct {
	Argv    []string // nil: no tests, on purpose
	Why     string   // where the command comes from, as DetectTests says; "" for the settings
	Exit    int
	Timeout string // such as "30m0s", where they did not come to an end
	Problem string // why they could not be started
	Tail    string // the end of what they printed
	Seconds int
}

// Landing is what a merge did.
type Landing struct {
	Commits []model.Moved // that are on the base now, oldest first
	Tests   TestRun
	Notes   []string // sentences in plain text: signatures lost, squashed since a commit conflicted, branch kept, ...
	Seconds int
	Closed  bool // GitHub did not show it as merged in time, so that it was closed
}

// Plan is what a merge would do, as a dry run found out.
type Plan struct {
	Commits   []model.Moved // that would land, oldest first
	BaseSHA   string
	Tip       string
	Tests     []string // argv
	TestsWhy  string
	Conflicts *Conflicts
	Notes     []string
	Problem   string // why it cannot be told
}

// Failure is why a merge did not come about.
type Failure struct {
	Code      model.MergeCode
	Detail    string // in words of others too
	Conflicts *Conflicts
	Tests     *TestRun
	Landed    string // where part of it is on the base all the same
}

// The texts. All are Markdown for a comment.

func WaitText(p model.Pull, m model.MergeMarker, v Verdict) string        { return "" }
func RefuseText(p model.Pull, v Verdict) string                           { return "" }
func RunningText(p model.Pull, m model.MergeMarker, attempts int) string  { return "" }
func DoneText(p model.Pull, m model.MergeMarker, l Landing) string        { return "" }
func FailText(p model.Pull, m model.MergeMarker, f Failure) string        { return "" }
func DryRunText(p model.Pull, v Verdict, plan *Plan) string               { return "" }
func CancelText(p model.Pull, m model.MergeMarker, by string) string      { return "" }
func SupersededText(p model.Pull, m model.MergeMarker, url string) string { return "" }
func ConflictText(p model.Pull, c Conflicts) string                       { return "" }
func TestsText(t TestRun) string                                          { return "" }
func ShortLine(number int, code model.MergeCode, detail string) string    { return "" }

// History is what a merge did to the history, for the picture of it.
type History struct {
	Base, Branch string // names of branches
	Strategy     string
	Before       []model.Commit // of the base, oldest first: the last ones before the merge
	Fork         string         // SHA of the one among Before that the branch grew from; "": an older one
	Commits      []model.Commit // of the branch, oldest first
	Landed       []model.Commit // that the merge added to the base
}

// Picture draws a history as a Mermaid gitGraph in a fenced block.
func Picture(h History) string { return "" }

// Undo is a revert of what a pull request landed.
type Undo struct {
	By      string
	Landed  string         // commit
	Base    string         // branch
	Commits []model.Commit // that are taken back, newest first
	Pull    model.PullRef  // that does it; zero before it is open
	Tests   TestRun
}

func RevertTitle(p model.Pull) string        { return "" }
func RevertBody(p model.Pull, u Undo) string { return "" }
func RevertText(p model.Pull, u Undo) string { return "" }

// Root is what DetectTests needs of the root of a tree: the text of a file by its name; ok is false where there is none.
type Root func(name string) (text string, ok bool)

// DetectTests finds the tests of a project that names none.
func DetectTests(root Root) (argv []string, said string, ok bool) { return nil, "", false }
