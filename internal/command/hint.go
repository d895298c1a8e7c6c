package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/nearest"
)

// suggest names the closest known word if it is close enough, else all of them.
func suggest(word string, known []string) string {
	if near, ok := nearest.To(word, known); ok {
		return didYouMean(near)
	}
	var quoted []string
	for _, k := range known {
		quoted = append(quoted, "`"+k+"`")
	}
	return nearest.OneOf(quoted)
}

func didYouMean(text string) string { return fmt.Sprintf(". Did you mean `%s`?", text) }

// suggestKey is suggest for what a command takes, as people type it. key is what stands before the = of a word, if it has one.
func suggestKey(word, key string, keys []string) string {
	near, ok := nearest.To(key, keys)
	at := slices.IndexFunc(keys, func(k string) bool {
		commit := k == keyHead || k == keySHA
		return commit && (key == keyHead || key == keySHA || NamesCommit(word)) // by the key of another command, or without one
	})
	switch {
	case at >= 0:
		return didYouMean(typed(keys[at]))
	case ok:
		return didYouMean(typed(near))
	case slices.Contains(keys, keyLogin) && isLogin(word):
		return didYouMean("@" + word)
	}
	var all []string
	for _, k := range keys {
		all = append(all, "`"+typed(k)+"`")
	}
	return nearest.OneOf(all)
}

// typed is how people type a key with its value, or a word.
func typed(key string) string {
	switch {
	case key == wordBecause:
		return key + " TEXT"
	case isWord(key):
		return key
	}
	return key + "=" + map[string]string{keyHead: "SHA", keySHA: "SHA", keyIssue: "NUMBER", keyPR: "NUMBER", keyStrategy: "NAME", keyPriority: "high"}[key]
}

// meant finds the command for which people may have typed an unknown one, "" for none, and says so. What a command takes is
// often taken for a command of its own.
func meant(word string) (name, hint string) {
	key, _, _ := strings.Cut(word, "=")
	if slices.Contains(model.Strategies(), word) {
		return "merge", didYouMean(Word + " merge " + keyStrategy + "=" + word)
	}
	for _, v := range verbs() {
		if slices.Contains(v.keys, key) {
			return v.name, didYouMean(Word + " " + v.name + " " + typed(key))
		}
	}
	if near, ok := nearest.To(word, names()); ok {
		return near, didYouMean(Word + " " + near)
	}
	return "", suggest(word, names())
}
