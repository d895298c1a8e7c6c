package turn

import (
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// flowPrompt is the part of a prompt that depends on the flow that starts a pull request.
type flowPrompt struct {
	to, doing string // with %s for the issue
	rules     []string
	inShort   string
	answer    []string // the fields of its answer
}

// working are the rules for an agent that changes files, up to the task itself.
var working = []string{
	"Work in the current directory: a checkout of the branch that the pull request will come from, and leave that branch checked out. The pull request is opened for you.",
	historyRule + "If a rewrite seems needed, ask for it in blocked_reason.",
	gitRule,
	"A commit_message means: all that you changed is ready. It is then committed with this message, and the pull request is opened. Leave it empty if you changed nothing.",
	"pr_title and pr_summary are the pull request's: tell the reviewers what you changed, where and why. The reference to the issue is added for you.",
	claimRule,
	blockedRule,
}

// writing are the rules for an agent that writes a document.
var writing = []string{
	"The current directory is a checkout for you to read. Change no files in it and commit nothing: the document is written, committed and proposed for you, in a pull request of its own.",
	"Return the whole document as design_doc_markdown, without front matter. It is for the people who decide about the work and for those who do it: what to build, why this way, " +
		"what is left out, and how to show that it works.",
	"touch_paths are the files and directories that the work will change or add, as paths from the top of the repository; they become the document's front matter, with the title.",
	"title and summary are also the pull request's, for those who review the document. The reference to the issue is added for you.",
	claimRule,
	blockedRule,
}

// planning are the rules for an agent that writes a roadmap.
var planning = []string{
	"The current directory is a checkout for you to read. Change no files in it and commit nothing: the roadmap is written, committed and proposed for you, in a pull request of its own.",
	"Return the items as roadmap_items, at most 100. Once people have merged the roadmap, each item becomes an issue, and an agent works on it as soon as everything that it needs is done. " +
		"An item is one pull request: small enough to be reviewed at once, and useful on its own.",
	"key is a short name of a-z, 0-9 and dashes, unique among the items. needs lists the keys of the items that have to be done before; leave out what follows from others, and make no cycle. " +
		"Items that do not need each other are done at the same time, so they should not change the same files.",
	"flow is design for what has to be thought through in a document first, bugfix for a bug, which gets a test, and small_job for everything else.",
	"acceptance says what is to be done and how to see that it is. Whoever works on the item reads its title, its acceptance and the goal, and nothing else of the roadmap.",
	"title and summary are also the pull request's, for those who review the roadmap. The reference to the issue is added for you.",
	claimRule,
	blockedRule,
}

const (
	workInShort  = "history only grows; a commit_message means that all is ready for the pull request; "
	writeInShort = "change no files; return the document as design_doc_markdown; "
	planInShort  = "change no files; return the items as roadmap_items; "
	askedRule    = "Do what the issue and the comments to take up ask for."
)

var workAnswer = []string{"pr_title", "pr_summary", "commit_message", "git_ops", "blocked_reason"}

// flowPrompts are the prompts by flow.
var flowPrompts = map[model.Flow]flowPrompt{
	model.FlowDesign: {
		"write a design document for %s", "writing a design document for %s", append(writing[:len(writing):len(writing)], askedRule+othersRule), writeInShort,
		[]string{"title", "summary", "touch_paths", "design_doc_markdown", "blocked_reason"},
	},
	model.FlowRoadmap: {
		"write a roadmap for %s", "writing a roadmap for %s", append(planning[:len(planning):len(planning)], askedRule+othersRule), planInShort,
		[]string{"title", "goal", "summary", "roadmap_items", "blocked_reason"},
	},
	model.FlowBugfix: {
		"fix the bug that %s is about", "fixing the bug that %s is about", append(working[:len(working):len(working)],
			"Add a test that shows the bug: it fails without your change and passes with it.", askedRule+othersRule), workInShort, workAnswer,
	},
	model.FlowSmallJob: {
		"do what %s asks for", "doing what %s asks for", append(working[:len(working):len(working)], askedRule+othersRule), workInShort, workAnswer,
	},
	model.FlowImplementation: {
		"implement the design document of %s", "implementing the design document of %s", append(working[:len(working):len(working)],
			"Implement the design document, which was reviewed and merged, and do what the comments to take up ask for."+othersRule), workInShort, workAnswer,
	},
}

// beginningRules are a flow prompt's rules, with those of the settings.
func beginningRules(a Ask) []string {
	rules := append([]string{}, flowPrompts[a.flow()].rules...)
	switch {
	case a.flow() == model.FlowRoadmap && a.DocDir != "":
		rules = append(rules, fmt.Sprintf("The roadmap will be put into %s.", name(a.DocDir, 300)))
	case a.flow() == model.FlowDesign && a.DocDir != "":
		rules = append(rules, fmt.Sprintf("The document will be put into %s.", name(a.DocDir, 300)))
	case a.flow() == model.FlowImplementation && a.Doc != nil:
		rules = append(rules, fmt.Sprintf("The design document is %s in the checkout.", name(a.Doc.Path, 300)))
	case a.flow() == model.FlowBugfix && len(a.TestFiles) > 0:
		rules = append(rules, fmt.Sprintf("Change or add at least one test, or no pull request is opened. A file is a test if its path matches one of these regular expressions: `%s`",
			name(strings.Join(a.TestFiles, "`, `"), 1000)))
	}
	return rules
}

// resumed says that an agent does not begin with nothing.
const resumed = "The branch holds the work of an earlier, unfinished attempt: look at it, and continue from there.\n\n"

// beginning describes the work on an issue, and earlier rounds and attempts.
func beginning(s model.Snapshot, a Ask) string {
	what, e := fmt.Sprintf("issue #%d of %s", s.Issue().Number, name(s.Repo.String(), 200)), flowPrompts[a.flow()]
	var b strings.Builder
	switch {
	case a.followUp() && a.flow().Document():
		fmt.Fprintf(&b, "You are in the middle of %s.\n", fmt.Sprintf(e.doing, what))
		b.WriteString("Your answers are kept: give only those again that have to change, and the document as a whole.\n\n")
	case a.followUp():
		fmt.Fprintf(&b, "You are in the middle of %s.\n", fmt.Sprintf(e.doing, what))
		b.WriteString("Your commits of earlier rounds are kept, and nothing is pushed yet: put further changes on top of them. Your answers are kept too: " +
			"give only those again that have to change.\n\n")
	default:
		fmt.Fprintf(&b, "Your task: %s. A pull request is opened from your work.\n\n", fmt.Sprintf(e.to, what))
	}
	if a.briefly() {
		return b.String()
	}
	done := len(attempts(a.State))
	switch {
	case a.Fresh:
		b.WriteString("Your earlier session on this issue is lost, and this is a new one. Below is what GitHub holds of that work.\n\n")
	case a.Session != "" && done > 0:
		fmt.Fprintf(&b, "You have worked on it before: %s.\n\n", markdown.Count(done, "attempt"))
	}
	if a.Resumed {
		b.WriteString(resumed)
	}
	return b.String()
}
