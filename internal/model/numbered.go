package model

import "fmt"

// Numbered is what a number stands for in a repository, where issues and pull requests share them: a PullNumber or an *Issue.
type Numbered interface {
	// About names it in a sentence.
	About() string
	// LogKey is what the log calls its number.
	LogKey() string
	// OpenPulls are the pull requests that somebody may mean who talks about it: itself, or those that will close the issue.
	OpenPulls() []int
}

// PullNumber is the number of a pull request.
type PullNumber int

func (n PullNumber) About() string    { return fmt.Sprintf("pull request %d", n) }
func (n PullNumber) LogKey() string   { return "pr_number" }
func (n PullNumber) OpenPulls() []int { return []int{int(n)} }

func (i *Issue) About() string    { return fmt.Sprintf("issue %d", i.Number) }
func (i *Issue) LogKey() string   { return "issue_number" }
func (i *Issue) OpenPulls() []int { return i.Pulls }

// Issue is the issue that was read; nil where the number is a pull request's.
func (s Snapshot) Issue() *Issue {
	i, _ := s.Of.(*Issue)
	return i
}

// IsPull says that the number is a pull request's.
func (s Snapshot) IsPull() bool { return s.Issue() == nil }
