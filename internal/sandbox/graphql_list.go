package sandbox

import (
	"slices"
	"sort"
	"strings"

	"github.com/graph-gophers/graphql-go"
)

// Refs lists the refs below a prefix, in alphabetical order. What comes behind the prefix is a ref's name there:
// https://github.com/badges/shields/blob/2648e0d3924584e598c1e6871296430100e1ad79/services/ros/ros-version.service.js gets
// "2022-06-10" for refs/tags/humble/2022-06-10 below refs/tags/humble/. What GitHub makes of a prefix that ends within a
// name is not known, so there is nothing below it.
func (r *gqlRepository) Refs(args struct {
	pageArgs
	RefPrefix string
	OrderBy   *order
	Direction *string
	Query     *string
}) (*connection[gqlRef], error) {
	if err := r.look.forbids(r.r, "Ref"); err != nil {
		return nil, err
	}
	var names []string
	for ref := range r.r.Refs {
		name, below := strings.CutPrefix(ref, args.RefPrefix)
		if below && strings.HasSuffix(args.RefPrefix, "/") && (args.Query == nil || strings.Contains(name, *args.Query)) {
			names = append(names, ref)
		}
	}
	sort.Strings(names)
	if args.OrderBy.desc() || args.Direction != nil && *args.Direction == "DESC" {
		slices.Reverse(names)
	}
	return pageOf(args.pageArgs, listing[string, gqlRef]{items: names, key: inOrder[string], wrap: func(name string) *gqlRef {
		ref := r.look.ref(r.r, name)
		ref.below = args.RefPrefix
		return ref
	}})
}

// order is any of GitHub's inputs that order a connection.
type order struct{ Field, Direction string }

func (o *order) desc() bool { return o != nil && o.Direction == "DESC" }

// issueKey is the sort key of issues and pull requests.
func (o *order) issueKey(_ int, i *Issue) sortKey {
	switch {
	case o != nil && o.Field == "UPDATED_AT":
		return sortKey{i.UpdatedAt.Unix(), int64(i.Number)}
	case o != nil && o.Field == "COMMENTS":
		return sortKey{int64(len(i.Comments)), int64(i.Number)}
	}
	return sortKey{i.CreatedAt.Unix(), int64(i.Number)}
}

// filtered are the issues that a filter lets through. Of several labels one is enough, where REST wants all:
// https://github.com/cli/cli/issues/419
func (r *gqlRepository) filtered(states, labels *[]string, keep func(*Issue) bool, stateOf func(*Issue) string) []*Issue {
	var found []*Issue
	for _, i := range r.r.inOrder() {
		if !keep(i) {
			continue
		}
		r.look.see(i)
		if states != nil && !slices.Contains(*states, stateOf(i)) {
			continue
		}
		if labels != nil && !slices.ContainsFunc(i.labels(), func(l *Label) bool { return slices.Contains(*labels, l.Name) }) {
			continue
		}
		found = append(found, i)
	}
	return found
}

// issueFilters is https://docs.github.com/en/graphql/reference/input-objects#issuefilters.
type issueFilters struct {
	Assignee, CreatedBy, Mentioned, Milestone, MilestoneNumber graphql.NullString
	Labels, States                                             *[]string
	Since                                                      *text
	ViewerSubscribed                                           bool
}

// check refuses what the sandbox keeps nothing of, and labels, which GitHub does not say whether one or all are wanted of.
func (f *issueFilters) check() error {
	if f.Assignee.Set || f.Mentioned.Set || f.Milestone.Set || f.MilestoneNumber.Set || f.Labels != nil || f.ViewerSubscribed {
		return &refusal{kind: "", message: "The sandbox filters issues by createdBy, states and since only"}
	}
	return nil
}

// keeps tells whether an issue passes. A bot is createdBy its login with "[bot]", as REST has it and GraphQL's author does
// not: https://github.com/renovatebot/renovate/issues/44730
func (f *issueFilters) keeps(i *Issue) bool {
	if f.CreatedBy.Value != nil && !strings.EqualFold(*f.CreatedBy.Value, i.Author) {
		return false
	}
	if f.States != nil && !slices.Contains(*f.States, issueState(i)) {
		return false
	}
	return f.Since == nil || string(dateTime(i.UpdatedAt)) >= string(*f.Since)
}

func (r *gqlRepository) Issues(args struct {
	pageArgs
	States, Labels *[]string
	OrderBy        *order
	FilterBy       *issueFilters
}) (*connection[gqlIssue], error) {
	if err := r.look.forbids(r.r, "Issue"); err != nil {
		return nil, err
	}
	keep := func(i *Issue) bool { return i.Pull == nil && (args.FilterBy == nil || args.FilterBy.keeps(i)) }
	if args.FilterBy != nil {
		if err := args.FilterBy.check(); err != nil {
			return nil, err
		}
	}
	found := r.filtered(args.States, args.Labels, keep, issueState)
	return pageOf(args.pageArgs, listing[*Issue, gqlIssue]{items: found, key: args.OrderBy.issueKey, desc: args.OrderBy.desc(), wrap: r.look.issue})
}

// pullArgs are the arguments of every connection of pull requests that can be filtered.
type pullArgs struct {
	pageArgs
	States, Labels           *[]string
	BaseRefName, HeadRefName *string
	OrderBy                  *order
}

func (r *gqlRepository) PullRequests(args pullArgs) (*connection[gqlPull], error) {
	if err := r.look.forbids(r.r, "PullRequest"); err != nil {
		return nil, err
	}
	keep := func(i *Issue) bool {
		return i.Pull != nil && (args.BaseRefName == nil || i.Pull.BaseRef == *args.BaseRefName) &&
			(args.HeadRefName == nil || i.Pull.HeadRef == *args.HeadRefName)
	}
	found := r.filtered(args.States, args.Labels, keep, pullState)
	return pageOf(args.pageArgs, listing[*Issue, gqlPull]{items: found, key: args.OrderBy.issueKey, desc: args.OrderBy.desc(), wrap: r.look.pull})
}
