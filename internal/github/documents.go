package github

import (
	"embed"
	"fmt"
	"regexp"
	"strings"
)

//go:embed queries/*.graphql
var queries embed.FS

// The documents that are sent, each with the fragments it uses and no others.
var (
	snapshotDocument = document("snapshot")
	pageDocument     = document("page")
	surveyDocument   = document("survey")

	mergeFactsDocument = document("mergefacts")
	mergeMoreDocument  = document("mergemore")
	pullNowDocument    = document("pullnow")
	pullsFromDocument  = document("pullsfrom")

	ourIssuesDocument = document("ourissues")
)

var (
	fragmentHead = regexp.MustCompile(`(?m)^fragment (\w+) on `)
	spread       = regexp.MustCompile(`\.\.\.(\w+)`) // "... on Type" has a space
)

// document is the query of that file followed by the fragments it reaches.
func document(name string) string { return withFragments(queryText(name)) }

func withFragments(query string) string {
	all := queryText("fragments")
	text := map[string]string{}
	heads := fragmentHead.FindAllStringSubmatchIndex(all, -1)
	for i, h := range heads {
		end := len(all)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		text[all[h[2]:h[3]]] = strings.TrimSpace(all[h[0]:end])
	}
	used := map[string]bool{}
	out := query
	for todo := query; todo != ""; {
		next := ""
		for _, m := range spread.FindAllStringSubmatch(todo, -1) {
			if name := m[1]; !used[name] {
				used[name] = true
				next += "\n\n" + text[name]
			}
		}
		out, todo = out+next, next
	}
	return out
}

// queryText reads an embedded file without its comments. The files are part of the program, so they are there.
func queryText(name string) string {
	raw, _ := queries.ReadFile("queries/" + name + ".graphql")
	var kept []string
	for line := range strings.Lines(string(raw)) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			kept = append(kept, line)
		}
	}
	return strings.TrimSpace(strings.Join(kept, ""))
}

// rightsDocument asks for the rights of n people, $l0 to $l(n-1), as p0 to p(n-1).
func rightsDocument(n int) string {
	var heads, fields strings.Builder
	for i := range n {
		fmt.Fprintf(&heads, ", $l%d: String!", i)
		fmt.Fprintf(&fields, "    p%d: collaborators(login: $l%d, first: 1) { ...Rights }\n", i, i)
	}
	return withFragments(fmt.Sprintf("query Rights($owner: String!, $name: String!%s) {\n  repository(owner: $owner, name: $name) {\n%s  }\n}", heads.String(), fields.String()))
}

// pullsOfDocument asks for the pull requests of n commits, $c0 to $c(n-1), as p0 to p(n-1).
func pullsOfDocument(n int) string {
	var heads, fields strings.Builder
	for i := range n {
		fmt.Fprintf(&heads, ", $c%d: GitObjectID!", i)
		fmt.Fprintf(&fields, "    p%d: object(oid: $c%d) { ...PullsOfCommit }\n", i, i)
	}
	return withFragments(fmt.Sprintf("query PullsOf($owner: String!, $name: String!%s) {\n  repository(owner: $owner, name: $name) {\n%s  }\n}", heads.String(), fields.String()))
}

// runsOnDocument asks for the check suites of n commits, $c0 to $c(n-1), as p0 to p(n-1).
func runsOnDocument(n int) string {
	var heads, fields strings.Builder
	for i := range n {
		fmt.Fprintf(&heads, ", $c%d: GitObjectID!", i)
		fmt.Fprintf(&fields, "    p%d: object(oid: $c%d) { ...RunsOnCommit }\n", i, i)
	}
	return withFragments(fmt.Sprintf("query RunsOn($owner: String!, $name: String!%s) {\n  repository(owner: $owner, name: $name) {\n%s  }\n}", heads.String(), fields.String()))
}

// surveyIssuesDocument asks for the issues or pull requests of these numbers, too, as p0 and so on.
func surveyIssuesDocument(also []int) string {
	var fields strings.Builder
	for i, number := range also {
		fmt.Fprintf(&fields, "p%d: issueOrPullRequest(number: %d) { __typename ...SurveyedIssue ...SurveyedPull }\n    ", i, number)
	}
	return withFragments(strings.Replace(queryText("surveyissues"), "...Also", fields.String(), 1))
}

// statesDocument asks for the states of n issues or pull requests, $n0 to $n(n-1), as p0 to p(n-1).
func statesDocument(n int) string {
	var heads, fields strings.Builder
	for i := range n {
		fmt.Fprintf(&heads, ", $n%d: Int!", i)
		fmt.Fprintf(&fields, "    p%d: issueOrPullRequest(number: $n%d) { ...StateOfPull ...StateOfIssue }\n", i, i)
	}
	return withFragments(fmt.Sprintf("query States($owner: String!, $name: String!%s) {\n  repository(owner: $owner, name: $name) {\n%s  }\n}", heads.String(), fields.String()))
}
