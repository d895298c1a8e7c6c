package workflow

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ciJob is a job of the project's CI that tests it.
type ciJob struct {
	name    string // in words
	rank    int
	values  map[string]string // of matrix.X and env.X
	steps   []*Step           // before the tests
	lacking []string          // what a step cannot take over
}

// testRun are the commands that test a project in its CI.
var testRun = regexp.MustCompile(`\b(go test|gotestsum|cargo (test|nextest)|(npm|pnpm|yarn|bun)( run)?( -\S+)* (t|test)\b|pytest|tox|nox|mvnw?\b.*\b(test|verify)|` +
	`gradlew?\b.*\b(test|check|build)|make (test|check)\b|rspec|rake|dotnet test|phpunit|composer( run)? test|vitest|jest)`)

// fromCI are the steps of the job that tests the project, and what could not be taken over from it. Where no job has the same command,
// they are those of all that test something, as in a repository of several languages.
func (p Project) fromCI() (from string, steps []toolStep, notes []string) {
	best, names := 1, []string(nil)
	var jobs []ciJob
	for _, w := range p.Workflows {
		for _, job := range w.Jobs {
			j := p.ciJob(w, job)
			if j.rank > best {
				best, jobs = j.rank, nil
			}
			if j.rank == best && (len(jobs) == 0 || best < sameCommand) {
				jobs = append(jobs, j)
			}
		}
	}
	for _, j := range jobs {
		names, notes = append(names, j.name), append(notes, j.lacking...)
		for _, n := range j.steps {
			taken, why := p.take(n, j.values, 0)
			fresh := slices.DeleteFunc(slices.Clone(taken), func(s toolStep) bool {
				return slices.ContainsFunc(steps, func(t toolStep) bool { return t.Run == s.Run && actionOf(t.Uses) == actionOf(s.Uses) })
			})
			if steps = append(steps, fresh...); len(fresh) == len(taken) {
				notes = append(notes, why...)
			}
		}
	}
	return strings.Join(names, ", "), steps, notes
}

// actionOf is the name of an action, in whatever version.
func actionOf(uses string) string {
	name, _, _ := strings.Cut(uses, "@")
	return name
}

// sameCommand is the rank from which a job tests by the command of the project.
const sameCommand = 8

// ciJob reads a job. Its rank is 0 where it tests nothing: best is one for the commits of pull requests, on Linux, with the command
// that tests the project.
func (p Project) ciJob(w *Workflow, job *Job) ciJob {
	j := ciJob{name: fmt.Sprintf("jobs.%s of %s", job.ID, w.Path), values: map[string]string{}}
	for i, step := range job.Steps {
		same := len(p.Tests) > 0 && strings.Contains(step.Run, strings.Join(p.Tests, " "))
		if isInstall(step.Run) || !same && !testRun.MatchString(step.Run) {
			continue
		}
		j.steps, j.rank = job.Steps[:i], 1
		for points, holds := range map[int]bool{sameCommand: same, 4: w.OnCommits(), 2: !strings.Contains(strings.Join(job.RunsOn, " "), "windows")} {
			if holds {
				j.rank += points
			}
		}
		break
	}
	for _, env := range []map[string]string{w.Env, job.Env} {
		for key, value := range env {
			j.values["env."+key] = value
		}
	}
	matrix := Child(Child(job.Node, "strategy"), "matrix")
	axes := Pairs(matrix)
	if include := sequence(Child(matrix, "include")); len(include) > 0 {
		axes = append(Pairs(include[0]), axes...)
	}
	for _, axis := range axes {
		if list := Words(axis.Value); len(list) > 0 && axis.Key != "include" && axis.Key != "exclude" {
			j.values["matrix."+axis.Key] = list[len(list)-1] // usually the newest
		}
	}
	for _, s := range Pairs(Child(job.Node, "services")) {
		j.lacking = append(j.lacking, fmt.Sprintf(aService+"%s (%s): start it in a step here, for example with docker run", s.Key, cmp.Or(read(s.Value, "image").Value, s.Value.Value)))
	}
	if image := job.Container.Image; image != "" {
		j.lacking = append(j.lacking, fmt.Sprintf("the container %s, in which it runs", image))
	}
	return j
}

const aService = "the service "

// HasServices reports whether the tests reach services of their CI job.
func (p Project) HasServices() bool {
	_, _, notes := p.fromCI()
	return slices.ContainsFunc(notes, func(n string) bool { return strings.HasPrefix(n, aService) })
}

var (
	// takes are the actions that install something. Local ones are read.
	takes = regexp.MustCompile(`^[\w.-]+/([\w.-]+/)*([\w.-]*setup[\w.-]*|rust-toolchain|toolchain)@[\w./-]+$`)
	// installs are the commands that install something and run no code of the repository.
	installs = regexp.MustCompile(`^((sudo )?apt(-get)? [\w .:=+-]+|(sudo )?npm (i|install) (-g|--global)( (@[\w-]+/)?[\w-]+(@[\w.^~-]+)?)+|corepack enable( \w+)?|` +
		`(pipx install|(python3? -m )?pip3? install)( (-U|-q|--upgrade|--quiet|--user))*( (uv|poetry|tox|nox|pipenv|hatch)([=<>~!]=?[\w.]+)?)+|` +
		`rustup (toolchain|component|target|default|update|show)[\w .-]*|gem install [\w-]+( -v [\w.]+)?|go install [\w./-]+@[\w.-]+|cargo install( --locked)? [\w-]+)$`)
	expressions = regexp.MustCompile(`\$\{\{\s*(.*?)\s*\}\}`)
	// foreign are the contexts that a local action does not have.
	foreign = regexp.MustCompile(`\b(secrets|matrix|env|needs|steps|inputs|vars|strategy|job)\.`)
)

// take takes one step over, or says why it cannot be.
func (p Project) take(step *Step, values map[string]string, depth int) (steps []toolStep, notes []string) {
	uses := step.Uses.Value
	name := actionOf(uses)
	switch {
	case isInstall(step.Run):
		return []toolStep{{Run: step.Run}}, nil
	case strings.HasPrefix(name, "./") && depth == 0:
		return p.takeLocal(step, strings.TrimPrefix(name, "./"), values)
	case !takes.MatchString(uses) || strings.HasPrefix(name, "docker/"):
		return nil, nil
	case step.Condition.Value != "":
		return nil, []string{fmt.Sprintf("%s, which runs under a condition", uses)}
	}
	s := toolStep{Uses: strings.TrimSpace(uses + " " + Child(step.Node, "uses").LineComment), With: map[string]string{}}
	for _, key := range slices.Sorted(maps.Keys(step.With)) {
		value, why := resolved(step.With[key], values)
		switch {
		case slices.Contains([]string{"registry-url", "scope", "server-id", "source-url"}, key) || strings.Contains(why, "secrets."):
			notes = append(notes, fmt.Sprintf("%s of %s: a private registry or token; give it to MergeXO's step in env, and name it in [agent] pass_env", key, name))
		case slices.Contains([]string{"bundler-cache", "run_install", "run-install", "arguments"}, key) || key == "cache" && value == "yarn":
			notes = append(notes, fmt.Sprintf("%s of %s: it would run code of pull requests outside of the isolation", key, name))
		case why != "":
			notes = append(notes, fmt.Sprintf("%s of %s: %s is not known here", key, name, why))
		default:
			s.With[key] = value
		}
	}
	if p.NoCaches {
		noCache(name, s.With)
	}
	return []toolStep{s}, notes
}

// takeLocal takes the steps of a local action over.
func (p Project) takeLocal(step *Step, dir string, values map[string]string) (steps []toolStep, notes []string) {
	var doc yaml.Node
	text := cmp.Or(p.Read(dir+"/action.yml"), p.Read(dir+"/action.yaml"))
	if yaml.Unmarshal([]byte(text), &doc) != nil || len(doc.Content) == 0 {
		return nil, nil
	}
	top, inside := follow(doc.Content[0]), map[string]string{}
	for _, in := range Pairs(Child(top, "inputs")) {
		inside["inputs."+in.Key] = read(in.Value, "default").Value
	}
	for key, value := range step.With {
		if value, why := resolved(value, values); why == "" {
			inside["inputs."+key] = value
		}
	}
	for _, one := range readSteps(Child(top, "runs")) {
		taken, why := p.take(one, inside, 1)
		steps, notes = append(steps, taken...), append(notes, why...)
	}
	return steps, notes
}

// isInstall reports whether a script does nothing but install programs.
func isInstall(run string) bool {
	for line := range strings.Lines(strings.ReplaceAll(run, "&&", "\n")) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") && !installs.MatchString(line) {
			return false
		}
	}
	return strings.TrimSpace(run) != ""
}

// resolved puts known values in the place of expressions. why is the expression that a local action cannot evaluate.
func resolved(text string, values map[string]string) (out, why string) {
	out = expressions.ReplaceAllStringFunc(text, func(e string) string {
		name := expressions.FindStringSubmatch(e)[1]
		if value, known := values[name]; known && !strings.Contains(value, "${{") {
			return value
		}
		if foreign.MatchString(name) {
			why = e
		}
		return e
	})
	return out, why
}
