package agent

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// flags says which arguments extra_args may have. It is a list of what is allowed: a flag that nobody has thought about
// could open what is shut.
type flags struct {
	program string
	free    map[string]bool   // what may be given; whether a value follows
	ours    map[string]string // what MergeXO sets, and what to do instead or why it stays so
	check   func(flag, value string) error
}

// Reasons that several flags have.
const (
	oursCall    = "it is how MergeXO talks to the program"
	oursSession = "MergeXO says which session it is"
	oursModel   = "set model under [agent]"
	oursPlace   = "the program works in the checkout and nowhere else"
	oursSandbox = "what the program may do is not a setting"
	oursCheckup = "a file could come from the pull request, which must not set up its own agent"
	oursAlways  = "it is always given"
)

// verify says what is wrong with extra_args.
func (f flags) verify(args []string) error {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if !strings.HasPrefix(arg, "-") || arg == "-" || arg == "--" {
			return fmt.Errorf("extra_args: %q cannot be given to %s: want flags, and values only behind a flag that takes one", arg, f.program)
		}
		name, value, joined := strings.Cut(arg, "=")
		if !strings.HasPrefix(arg, "--") && len(name) > 2 { // -cKEY=VALUE
			name, value, joined = arg[:2], arg[2:], true
		}
		if why, ok := f.ours[name]; ok {
			return fmt.Errorf("extra_args: %s cannot be given to %s: %s", name, f.program, why)
		}
		takes, ok := f.free[name]
		if !ok {
			known := slices.Sorted(maps.Keys(f.free))
			return fmt.Errorf("extra_args: %s cannot be given to %s%s: it takes %s", name, f.program, didYouMean(name, known), strings.Join(known, ", "))
		}
		if takes && !joined {
			if i++; i == len(args) || strings.HasPrefix(args[i], "-") {
				return fmt.Errorf("extra_args: %s wants a value", name)
			}
			value = args[i]
		}
		if f.check != nil {
			if err := f.check(name, value); err != nil {
				return err
			}
		}
	}
	return nil
}
