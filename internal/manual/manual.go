// Package manual embeds the pages of the manual and the schemas, so that the program can print them without a network or the
// source.
package manual

import "embed"

//go:embed *.md schemas/*.json
var files embed.FS

// Topic is a page of the manual: NAME.md in this directory.
type Topic struct{ Name, About string }

// Topics are all pages, in the order in which to read them.
var Topics = []Topic{
	{"install", "from nothing to the first pull request"},
	{"agents", "choose an agent, limit what it can reach, or write your own"},
	{"issues", "from a label on an issue to a pull request"},
	{"roadmaps", "a plan of many issues that MergeXO carries out"},
	{"reviewing", "comments, commands and labels on a pull request"},
	{"merging", "merge with tests, merge trains, and merges without GitHub"},
	{"forks", "pull requests from forks"},
	{"ci", "failed workflow runs, and how to start CI for pushed commits"},
	{"operations", "sweeps, stuck pull requests, exit codes, JSON"},
	{"cost", "minutes of Actions, and calls of GitHub's API"},
	{"projects", "toolchains, services, private packages, monorepos, and runners of your own"},
	{"rollout", "one pull request, many repositories, upgrades, Dependabot"},
	{"security", "what is promised, what is isolated, and the split mode"},
	{"configuration", "every key of .github/mergexo.toml"},
	{"sandbox", "a GitHub on your own machine for trying things out"},
	{"questions", "questions and answers"},
	{"glossary", "the words that MergeXO uses"},
}

// Page is the Markdown of a topic. It reports false if there is none of that name.
func Page(topic string) (string, bool) {
	text, err := files.ReadFile(topic + ".md")
	return string(text), err == nil
}

// Schema is the JSON Schema of what a command prints with --json; name is the command with hyphens for spaces and with .json, such as
// "blocked-list.json". It reports false if there is none of that name.
func Schema(name string) (string, bool) {
	text, err := files.ReadFile("schemas/" + name)
	return string(text), err == nil
}
