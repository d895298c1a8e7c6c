package model

// The names of the strategies, as settings and commands give them.
const (
	StrategyRebase     = "rebase"
	StrategySquash     = "squash"
	StrategyNoFF       = "no-ff"
	StrategyCherryPick = "cherry-pick"
	StrategyUnion      = "frontmatter-union"
	StrategyAPI        = "api"
	StrategyQueue      = "github-queue"
)

// Strategy is what is to be known of a strategy before anything is built.
type Strategy struct {
	Name        string
	MovesHead   bool // what it makes takes the place of the head branch, where that is in the repository itself
	TakesForks  bool // it works for a head branch in a fork, which is never moved
	NeedsFields bool // only a rule that names union_fields can ask for it
	Joins       bool // it makes a merge commit, which no linear history takes, above the branch's own commits
	ByGitHub    bool // GitHub itself makes what lands, of the head as it is, and moves the base
	Titled      bool // a commit of its own has the title of the pull request, else that of a merge commit
	// Conflict is the code of a conflict; "": the code of any.
	Conflict MergeCode
}

var strategies = []Strategy{
	{Name: StrategyRebase, MovesHead: true, Titled: true},
	{Name: StrategySquash, MovesHead: true, Titled: true, Conflict: CodeSquash},
	{Name: StrategyNoFF, TakesForks: true, Joins: true},
	{Name: StrategyCherryPick, MovesHead: true, TakesForks: true},
	{Name: StrategyUnion, TakesForks: true, NeedsFields: true, Joins: true},
	{Name: StrategyAPI, TakesForks: true, ByGitHub: true},
	{Name: StrategyQueue, TakesForks: true, ByGitHub: true},
}

// Strategies are the names of all strategies.
func Strategies() []string {
	names := make([]string, 0, len(strategies))
	for _, s := range strategies {
		names = append(names, s.Name)
	}
	return names
}

// StrategyNamed is the strategy of a name; ok is false where there is none.
func StrategyNamed(name string) (s Strategy, ok bool) {
	for _, s := range strategies {
		if s.Name == name {
			return s, true
		}
	}
	return Strategy{}, false
}

// ByGitHub says that GitHub itself makes what lands by a strategy, and moves the base.
func ByGitHub(strategy string) bool {
	s, _ := StrategyNamed(strategy)
	return s.ByGitHub
}
