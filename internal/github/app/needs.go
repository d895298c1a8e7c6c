package app

import (
	"slices"

	"github.com/mergexo/mergexo/internal/model"
)

// Need is a permission that a run asks for, named as in REST. One that is not required is left out, or asked for less, where the
// installation does not have it.
type Need struct {
	Permission, Access string
	Required           bool
	Without            string // what does not work without it
}

// ToWrite are the permissions of a run; ToRead those of one that writes nothing to GitHub: the agent's job, and the plan of a sweep.
// They are what internal/doctor asks a job's permissions for.
var (
	ToWrite = []Need{
		{"contents", "write", true, "MergeXO cannot push"},
		{"pull_requests", "write", true, "review comments cannot be answered"},
		{"issues", "write", true, "MergeXO cannot comment in the conversation"},
		{"actions", "write", false, "failed jobs of a flaky test are not rerun, and a sweep cannot start the agent"},
		{"checks", "read", false, "a merge never sees its checks"},
		{"statuses", "read", false, "a merge never sees its statuses"},
		// https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps#repository-permissions-for-workflows
		{"workflows", "write", false, "pull requests that change .github/workflows cannot be pushed or merged"},
	}
	ToRead = []Need{
		{"contents", "read", true, "MergeXO cannot fetch"},
		{"pull_requests", "read", true, "review comments cannot be read"},
		{"issues", "read", true, "the conversation cannot be read"},
		{"actions", "read", false, "MergeXO cannot see that a run died, and waits until its claim expires"},
		{"checks", "read", false, "a merge never sees its checks"},
		{"statuses", "read", false, "a merge never sees its statuses"},
	}
)

// grant is what to ask an installation for, and what it would have to have and has not.
func grant(needs []Need, i model.Installation) (ask map[string]string, missing []Need) {
	ask = map[string]string{"metadata": "read"} // which every installation has
	for _, n := range needs {
		switch {
		case i.Grants(n.Permission, n.Access):
			ask[n.Permission] = n.Access
		case n.Required:
			missing = append(missing, n)
		case i.Grants(n.Permission, "read"):
			ask[n.Permission] = "read"
		}
	}
	if ask["contents"] == "write" && i.Grants("workflows", "write") { // which no job has, and merges of changed workflows need
		ask["workflows"] = "write"
	}
	return ask, missing
}

// Lacking are the needs that an installation does not meet, required or not.
func Lacking(needs []Need, i model.Installation) []Need {
	return slices.DeleteFunc(slices.Clone(needs), func(n Need) bool { return i.Grants(n.Permission, n.Access) })
}

// Optional are the same needs, none of them required.
func Optional(needs []Need) []Need {
	needs = slices.Clone(needs)
	for i := range needs {
		needs[i].Required = false
	}
	return needs
}
