package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"
)

// completionCommand prints scripts that know the whole command table, so that a shell completes without starting the program:
// the library's scripts start it at every key, and know no values.
func completionCommand(p *program) *cli.Command {
	shell := func(name, how string, write func([]entry) string) *cli.Command {
		return &cli.Command{
			Name: name, Usage: "print the completion script for " + name, Description: "To use it: " + how,
			Action: func(c *cli.Context) error {
				_, err := io.WriteString(p.Out, write(table(p.app())))
				return err
			},
		}
	}
	return &cli.Command{
		Name: "completion", Usage: "print the script that completes commands and flags in your shell",
		Subcommands: []*cli.Command{
			shell("bash", "source <(mergexo completion bash), in ~/.bashrc.", bashCompletion),
			shell("zsh", "source <(mergexo completion zsh), in ~/.zshrc after compinit; or put it into a directory of $fpath as _mergexo.", zshCompletion),
			shell("fish", "mergexo completion fish > ~/.config/fish/completions/mergexo.fish", fishCompletion),
		},
	}
}

// single is a text in single quotes, as bash and zsh read it.
func single(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// singles are texts in single quotes with sep in between.
func singles(all []string, sep string) string {
	out := make([]string, 0, len(all))
	for _, s := range all {
		out = append(out, single(s))
	}
	return strings.Join(out, sep)
}

// below are the places, such as "blocked list", of all commands.
func below(table []entry) []string {
	var out []string
	for _, e := range table[1:] {
		at := strings.LastIndex(e.path, " ")
		out = append(out, e.path[:max(at, 0)]+" "+e.name())
	}
	return out
}

// bashCompletion works in bash from 3.2 on. Bash takes --flag=value for three words, and what is completed for the last of them.
func bashCompletion(table []entry) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Completes mergexo in bash.
_mergexo() {
  local IFS=$'\n' cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command='' words='' i
  COMPREPLY=()
  if [ "$cur" = = ]; then
    cur=''
  elif [ "$prev" = = ]; then
    prev=${COMP_WORDS[COMP_CWORD-2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$command ${COMP_WORDS[i]}" in
      %s) i=$((i + 1)); if [ "${COMP_WORDS[i]}" = = ]; then i=$((i + 1)); fi ;;
      %s) command="${command:+$command }${COMP_WORDS[i]}" ;;
    esac
  done
  case "$command $prev" in
    %s) COMPREPLY=($(compgen -f -- "$cur")); compopt -o filenames 2>/dev/null; return ;;
    %s) COMPREPLY=($(compgen -d -- "$cur")); compopt -o filenames 2>/dev/null; return ;;
    %s) return ;;
  esac
  case "$command" in
`, singles(takes(table, anyValue), "|"), singles(below(table), "|"), singles(takes(table, isFile), "|"), singles(takes(table, isDir), "|"), singles(takes(table, anyValue), "|"))
	for _, e := range table {
		var words []string
		for _, s := range e.subs {
			words = append(words, s.name())
		}
		for _, o := range e.options {
			words = append(words, "--"+o.name)
		}
		fmt.Fprintf(&b, "    %s) words=$'%s' ;;\n", single(e.path), strings.Join(words, `\n`))
	}
	b.WriteString(`  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -F _mergexo mergexo
`)
	return b.String()
}

// zshText is a text in what _arguments and _describe read.
func zshText(s string) string {
	return strings.NewReplacer(`\`, `\\`, `'`, `'\''`, `[`, `\[`, `]`, `\]`, `:`, `\:`).Replace(s)
}

// zshCompletion has one function a command. Both ways to load it end with the same function under the same name.
func zshCompletion(table []entry) string {
	var b strings.Builder
	b.WriteString("#compdef mergexo\n# Completes mergexo in zsh.\n")
	name := func(e entry) string { return "_mergexo" + strings.ReplaceAll(" "+e.path, " ", "_") }
	for _, e := range table {
		if e.path == "" {
			fmt.Fprint(&b, "_mergexo() {\n")
		} else {
			fmt.Fprintf(&b, "%s() {\n", name(e))
		}
		b.WriteString("  local state\n  local -a commands\n  _arguments -C")
		for _, o := range e.options {
			fmt.Fprintf(&b, " \\\n    '--%s%s[%s]%s'", o.name, zshEquals(o), zshText(o.usage), zshValue(o))
		}
		if len(e.subs) == 0 {
			b.WriteString("\n}\n")
			continue
		}
		b.WriteString(" \\\n    '1: :->command' '*:: :->rest'\n  case $state in\n    command)\n      commands=(\n")
		for _, s := range e.subs {
			fmt.Fprintf(&b, "        '%s:%s'\n", s.name(), zshText(s.usage))
		}
		b.WriteString("      )\n      _describe -t commands command commands ;;\n    rest)\n      case $words[1] in\n")
		for _, s := range e.subs {
			fmt.Fprintf(&b, "        %s) %s ;;\n", s.name(), name(s))
		}
		b.WriteString("      esac ;;\n  esac\n}\n")
	}
	b.WriteString("if [ \"$funcstack[1]\" = _mergexo ]; then\n  _mergexo \"$@\"\nelse\n  compdef _mergexo mergexo\nfi\n")
	return b.String()
}

// zshEquals lets a flag's value follow in the same word, too.
func zshEquals(o option) string {
	if o.value == "" {
		return ""
	}
	return "="
}

func zshValue(o option) string {
	switch {
	case o.value == "":
		return ""
	case isFile(o.value):
		return ":" + zshText(o.value) + ":_files"
	case isDir(o.value):
		return ":" + zshText(o.value) + ":_files -/"
	}
	return ":" + zshText(o.value) + ": "
}

// fishText is a text in single quotes, in which fish knows two escapes.
func fishText(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

// fishCompletion asks one function where the line has got to.
func fishCompletion(table []entry) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Completes mergexo in fish.
function __mergexo_at
    set -l at ''
    set -l value no
    for word in (commandline -opc)[2..-1]
        if test $value = yes
            set value no
            continue
        end
        switch "$at $word"
            case %s
                set value yes
            case %s
                set at (string trim -- "$at $word")
        end
    end
    test "$at" = "$argv[1]"
end
complete -c mergexo -f
`, singles(takes(table, anyValue), " "), singles(below(table), " "))
	for _, e := range table {
		at := "complete -c mergexo -n " + fishText("__mergexo_at '"+e.path+"'")
		for _, s := range e.subs {
			fmt.Fprintf(&b, "%s -a %s -d %s\n", at, s.name(), fishText(s.usage))
		}
		for _, o := range e.options {
			fmt.Fprintf(&b, "%s -l %s%s -d %s\n", at, o.name, fishValue(o), fishText(o.usage))
		}
	}
	return b.String()
}

func fishValue(o option) string {
	switch {
	case o.value == "":
		return ""
	case isFile(o.value):
		return " -r -F"
	case isDir(o.value):
		return " -x -a '(__fish_complete_directories)'"
	}
	return " -x"
}
