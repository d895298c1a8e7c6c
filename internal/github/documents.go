package github

import (
	"context"
	"embed"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/mergexo/mergexo/internal/model"
)

//go:embed queries/*.graphql
var queries embed.FS

// documents are the texts of queries/, each with the fragments it uses and no others.
var documents = func() map[string]string {
	all := map[string]string{}
	files, _ := queries.ReadDir("queries") // part of the program
	for _, f := range files {
		name := strings.TrimSuffix(f.Name(), ".graphql")
		all[name] = withFragments(queryText(name, true))
	}
	return all
}()

var (
	comments = regexp.MustCompile(`(?m)^[ \t]*#.*\n| *#.*$`)
	newer    = regexp.MustCompile(`(?m)^.*# sub-issues\n`) // which older servers do not understand
	spread   = regexp.MustCompile(`\.\.\.(\w+)`)           // "... on Type" has a space
)

// fragments are the texts of all fragments, by name.
var fragments = sync.OnceValue(func() map[string]string {
	text := map[string]string{}
	for _, one := range strings.Split("\n"+queryText("fragments", true), "\nfragment ")[1:] {
		name, _, _ := strings.Cut(one, " ")
		text[name] = "fragment " + strings.TrimSpace(one)
	}
	return text
})

func withFragments(query string) string {
	text := fragments()
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

// queryText reads an embedded file without its comments, and without sub-issues for servers that do not have them. The files are part
// of the program, so they are there.
func queryText(name string, subs bool) string {
	raw, _ := queries.ReadFile("queries/" + name + ".graphql")
	if !subs {
		raw = newer.ReplaceAll(raw, nil)
	}
	return strings.TrimSpace(comments.ReplaceAllString(string(raw), ""))
}

// asked is what a query asks for each of several things in one request: the field, whose argument is the variable of that
// name and number. A request is about most things at most. lack is what stands before an alias that may have an error: mayLack, ""
// for any error, or mustBe for none.
type asked struct {
	query, variable, kind, field string
	most                         int
	lack                         string
}

var (
	rightsOf       = asked{"Rights", "l", "String!", "collaborators(login: $%s, first: 1) { ...Rights }", 50, ""}
	pullsOfCommits = asked{"PullsOf", "c", "GitObjectID!", "object(oid: $%s) { ...PullsOfCommit }", 20, ""}
	// pullsFromEach asks for no more than the newest of a branch, whose name may have been used again and again.
	pullsFromEach = asked{"PullsFromEach", "b", "String!", "pullRequests(headRefName: $%s, first: 20, orderBy: {field: CREATED_AT, direction: DESC}) " +
		"{ nodes { ...PullInShort author { ...Actor } } }", 100, mustBe}
	runsOnCommits = asked{"RunsOn", "c", "GitObjectID!", "object(oid: $%s) { ...RunsOnCommit }", 50, mayLack}
	// pullsNow asks what is asked again and again while pull requests change.
	pullsNow = asked{"PullsNow", "n", "Int!", "pullRequest(number: $%s) { ...PullNow }", 50, mayLack}
	itemsOf  = asked{"Items", "n", "Int!", "issueOrPullRequest(number: $%s) { ...ItemIssue }", 50, mayLack}
	statesOf = asked{"States", "n", "Int!", "issueOrPullRequest(number: $%s) { ...StateOfPull ...StateOfIssue }", 50, mayLack}
	// threadsOfEach asks for no more than the newest of a pull request.
	threadsOfEach = asked{"ThreadsOf", "n", "Int!", "pullRequest(number: $%s) { reviewThreads(last: 50) { ...Threads } }", 20, mayLack}
)

// askEach asks about each of a list, and gives take what GitHub shows of each that is there.
func askEach[T, N any](ctx context.Context, c *conn, a asked, op string, repo model.Repo, list []T, take func(one T, n *N)) error {
	if err := c.check(op, repo); err != nil {
		return err
	}
	return askAll(ctx, c, a.query, list, a.most, func(ctx context.Context, some []T) error {
		variables, q := map[string]any{}, question{op: op, document: a.document(len(some)), repo: repo}
		for i, one := range some {
			variables[fmt.Sprint(a.variable, i)] = one
			if a.lack != mustBe {
				q.may = append(q.may, fmt.Sprintf("%sp%d", a.lack, i))
			}
		}
		data, err := askFor[map[string]*N](ctx, c, q, func(int) map[string]any { return variables })
		if err != nil {
			return err
		}
		for i, one := range some {
			if n := (*data.Repository)[fmt.Sprintf("p%d", i)]; n != nil {
				take(one, n)
			}
		}
		return nil
	})
}

// document asks about n things, as p0 to p(n-1).
func (a asked) document(n int) string {
	var heads, fields strings.Builder
	for i := range n {
		variable := fmt.Sprint(a.variable, i)
		fmt.Fprintf(&heads, ", $%s: %s", variable, a.kind)
		fmt.Fprintf(&fields, "    p%d: "+a.field+"\n", i, variable)
	}
	return withFragments(fmt.Sprintf("query %s($owner: String!, $name: String!%s) {\n  repository(owner: $owner, name: $name) {\n%s  }\n}", a.query, heads.String(), fields.String()))
}

// Documents are all GraphQL queries that the gateway sends, by name, for those who try what a server makes of each. One that
// asks for each of several things asks for two; the numbers in it are 1 and 2.
func Documents() map[string]string {
	const two = 2
	all := map[string]string{}
	for name, text := range documents {
		if strings.HasPrefix(text, "query ") {
			all[name] = text
		}
	}
	all["surveyissues"] = surveyIssuesDocument([]int{1, two}, true)
	for name, a := range map[string]asked{
		"pullsnow": pullsNow, "rights": rightsOf, "pullsof": pullsOfCommits, "pullsfromeach": pullsFromEach, "runson": runsOnCommits,
		"states": statesOf, "threadsof": threadsOfEach, "items": itemsOf,
	} {
		all[name] = a.document(two)
	}
	return all
}

// surveyIssuesDocument asks for the issues or pull requests of these numbers, too, as p0 and so on, and for sub-issues where the
// server has them.
func surveyIssuesDocument(also []int, subs bool) string {
	further := ""
	for i, number := range also {
		further += fmt.Sprintf("    p%d: issueOrPullRequest(number: %d) { __typename ...SurveyedIssue ...SurveyedPull }\n", i, number)
	}
	if further != "" {
		further = "also: repository(owner: $owner, name: $name) {\n" + further + "  }"
	}
	return withFragments(strings.Replace(queryText("surveyissues", subs), "...Also", further, 1))
}
