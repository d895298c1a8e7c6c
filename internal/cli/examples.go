package cli

import "strings"

// examples are lines to type, by the command that they are for; "" is the program. A test reads their flags as the program does.
var examples = map[string][]string{
	"":                {"mergexo init --github", "mergexo status", "mergexo why --pr 7", "mergexo replay --make pull_request_review_comment"},
	"init":            {"mergexo init", "mergexo init --github --app", "mergexo init --agent codex --ci CI --merge command --yes"},
	"doctor":          {"mergexo doctor", "mergexo doctor --checkout ../widgets --json"},
	"status":          {"mergexo status", "mergexo status --pr 7 --json", "mergexo status --html dashboard.html"},
	"why":             {"mergexo why --pr 7", "mergexo why --pr 7 --all"},
	"merge":           {"mergexo merge --branch fix", "mergexo merge --branch fix --base release/1 --strategy squash --dry-run", "mergexo merge --local --branch fix --base main"},
	"log":             {"mergexo log", "mergexo log --pr 7", "mergexo log --since 2w --json", "mergexo log --cost"},
	"blocked":         {"mergexo blocked list", "mergexo blocked reset --pr 7"},
	"blocked list":    {"mergexo blocked list", "mergexo blocked list --repo octo/widgets --json"},
	"blocked reset":   {"mergexo blocked reset --pr 7 --head-sha dff0ae7d73", "mergexo blocked reset --all --dry-run", "mergexo blocked reset --all --yes"},
	"train":           {"mergexo train", "mergexo train --base release/1"},
	"replay":          {"mergexo replay --list", `mergexo replay --make issue_comment --body "/mergexo merge"`, "mergexo replay --event payload.json --checkout . --dry-run"},
	"sandbox":         {"mergexo sandbox --demo", "mergexo sandbox --listen 127.0.0.1:8080 --state data"},
	"sweep":           {"mergexo sweep", "mergexo sweep --dry-run", "mergexo sweep --only 7,9"},
	"run":             {"mergexo run", "mergexo run --dry-run --verbose"},
	"uninstall":       {"mergexo uninstall --dry-run", "mergexo uninstall --yes"},
	"completion":      {"mergexo completion bash"},
	"completion bash": {"mergexo completion bash > ~/.local/share/bash-completion/completions/mergexo"},
	"completion zsh":  {"mergexo completion zsh > ~/.zfunc/_mergexo"},
	"completion fish": {"mergexo completion fish > ~/.config/fish/completions/mergexo.fish"},
	"man":             {"mergexo man | man -l -"},
	"version":         {"mergexo version"},
}

// exampleList is the end of a command's help.
func exampleList(path string) string {
	return "\nEXAMPLES:\n   " + strings.Join(examples[path], "\n   ") + "\n"
}
