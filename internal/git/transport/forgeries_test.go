package transport_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git/transport"
)

// spelled is a text in which words stand for what is known only once there is a repository.
func (f *forger) spelled(text, head string) string {
	return strings.NewReplacer("START", f.start, "HEAD", head, "REF", transport.BundleRef, "TREE", f.tree, "DEV", "Dev <dev@example.com> 1700000000 +0200").Replace(text)
}

// headed is an honest commit below another header.
func headed(lines ...string) func(f *forger) string {
	return func(f *forger) string {
		head, ids := f.honest()
		f.write(strings.Split(f.spelled(strings.Join(lines, "\n"), head), "\n"), f.pack(ids...))
		return head
	}
}

// commit is a commit that no git has written.
func commit(text string) func(f *forger) string {
	return func(f *forger) string {
		head := f.object("commit", f.spelled(text, ""))
		return f.bundle(head, head)
	}
}

// only is a commit of a tree with nothing else in it than one entry.
func only(mode, name, content string) func(f *forger) string {
	return func(f *forger) string {
		blob := f.object("blob", content)
		tree := f.object("tree", entry(mode, name, blob))
		head := f.commitOn(tree, f.start)
		return f.bundle(head, blob, tree, head)
	}
}

// more is a commit of start's tree and one more file.
func more(mode, name string) func(f *forger) string {
	return func(f *forger) string {
		blob := f.object("blob", "x\n")
		return f.holding(entry(mode, name, blob), blob)
	}
}

// packed is a pack that holds none of what the header promises.
func packed(pack string) func(f *forger) string {
	return func(f *forger) string {
		f.write(f.header(absent), pack)
		return absent
	}
}

// forgeries each write a bundle and return the planned head that outcome.json would name. Each is one way to tamper.
var forgeries = []struct {
	name  string
	forge func(f *forger) (head string)
}{
	{"no bundle at all", func(f *forger) string {
		f.write([]string{"PACK"}, "")
		return f.start
	}},
	{"a version to come", headed("# v4 git bundle", "-START", "HEAD REF")},
	{"a header without end", func(f *forger) string {
		f.write([]string{"# v2 git bundle" + strings.Repeat("\n-"+f.start, 2000)}, "")
		return f.start
	}},
	{"a line of something else", headed("# v2 git bundle", "-START", "--upload-pack=touch /tmp/x", "HEAD REF")},
	{"a filter", headed("# v3 git bundle", "@object-format=sha1", "@filter=blob:none", "-START", "HEAD REF")},
	{"a second ref", headed("# v2 git bundle", "-START", "HEAD REF", "START refs/heads/main")},
	{"the ref twice", headed("# v2 git bundle", "-START", "START REF", "HEAD REF")},
	{"another ref", headed("# v2 git bundle", "-START", "HEAD refs/heads/main")},
	{"no ref", headed("# v2 git bundle", "-START")},
	{"another head than planned", func(f *forger) string {
		head, ids := f.honest()
		f.bundle(head, ids...)
		return f.commitOn(f.tree, f.start)
	}},
	{"the planned head is not in it", func(f *forger) string {
		_, ids := f.honest()
		return f.bundle(absent, ids...)
	}},
	{"the planned head is a file", func(f *forger) string {
		blob := f.object("blob", "new\n")
		return f.bundle(blob, blob)
	}},
	{"a tag in it", func(f *forger) string {
		head, ids := f.honest()
		tag := f.object("tag", "object "+head+"\ntype commit\ntag v9\ntagger Dev <dev@example.com> 1700000000 +0200\n\nforged\n")
		return f.bundle(head, append(ids, tag)...)
	}},
	{"a history of its own", func(f *forger) string {
		head := f.commitOn(f.tree)
		f.write([]string{"# v2 git bundle", head + " " + transport.BundleRef}, f.pack(head))
		return head
	}},
	{"a rewrite from before start", func(f *forger) string {
		before := f.Git(f.dir, "rev-parse", f.start+"~1")
		tree := f.with(entry("100644", "z.txt", f.object("blob", "new\n")))
		head := f.commitOn(tree, before)
		ids := f.feed(head+"\n^"+before+"\n", "rev-list", "--objects", "--no-object-names", "--stdin")
		f.write([]string{"# v2 git bundle", "-" + before, head + " " + transport.BundleRef}, f.pack(strings.Fields(ids)...))
		return head
	}},
	{"start itself", func(f *forger) string { return f.bundle(f.start, f.start) }},
	{"a commit that only the thief knows", func(f *forger) string {
		hidden := f.commitOn(f.tree, f.start)
		head := f.commitOn(f.tree, f.start, hidden)
		f.write([]string{"# v2 git bundle", "-" + f.start, "-" + hidden, head + " " + transport.BundleRef}, f.pack(head))
		return head
	}},
	{"a commit of a branch that has nothing to do with it", func(f *forger) string {
		secret := f.Git(f.dir, "rev-parse", "refs/heads/secret")
		head := f.commitOn(f.tree, f.start, secret)
		f.write([]string{"# v2 git bundle", "-" + f.start, "-" + secret, head + " " + transport.BundleRef}, f.pack(head))
		return head
	}},
	{"a missing file", func(f *forger) string {
		head, ids := f.honest()
		return f.bundle(head, ids[1:]...)
	}},
	{"a missing directory", func(f *forger) string {
		head, ids := f.honest()
		return f.bundle(head, ids[0], head)
	}},
	{"a missing commit", func(f *forger) string {
		between := f.commitOn(f.tree, f.start)
		head := f.commitOn(f.tree, between)
		return f.bundle(head, head)
	}},
	{"a file that is on another branch", func(f *forger) string {
		return f.holding(entry("100644", "z.txt", f.Git(f.dir, "rev-parse", "refs/heads/secret:secret.txt")))
	}},
	{"an object too many", func(f *forger) string {
		head, ids := f.honest()
		return f.bundle(head, append(ids, f.object("blob", "smuggled\n"))...)
	}},
	{"a byte of the pack changed", func(f *forger) string {
		head, ids := f.honest()
		pack := []byte(f.pack(ids...))
		pack[len(pack)/2] ^= 1
		f.write(f.header(head), string(pack))
		return head
	}},
	{"cut short", func(f *forger) string {
		head, ids := f.honest()
		pack := f.pack(ids...)
		f.write(f.header(head), pack[:len(pack)-30])
		return head
	}},
	{"more behind the pack", func(f *forger) string {
		head, ids := f.honest()
		f.write(f.header(head), f.pack(ids...)+"#!/bin/sh\n")
		return head
	}},
	{"no pack", packed("")},
	{"a thin pack", func(f *forger) string {
		base := f.Git(f.dir, "rev-parse", f.start+":base.txt")
		text := f.feed("", "cat-file", "blob", base)
		blob := f.object("blob", text+"one line more\n")
		tree := f.with(entry("100644", "z.txt", blob))
		head := f.commitOn(tree, f.start)
		f.write(f.header(head), f.feed(head+"\n^"+f.start+"\n", "pack-objects", "--quiet", "--stdout", "--thin", "--revs"))
		return head
	}},
	{"a pack that claims four billion objects", packed("PACK\x00\x00\x00\x02\xff\xff\xff\xff")},
	{"a commit with a header of 2 MB", commit("tree TREE\nparent START\nauthor DEV\ncommitter DEV\ngpgsig " + strings.Repeat("x", 2<<20) + "\n\nforged\n")},
	{"a commit of 300 MB that packs well", func(f *forger) string {
		f.write(f.header(absent), inflating(f.T, 300<<20))
		return absent
	}},
	{"10^12 paths", func(f *forger) string {
		ids := f.nest(12, 10)
		return f.holding(entry("40000", "z", ids[len(ids)-1]), ids...)
	}},
	{"300 directories in each other", func(f *forger) string {
		ids := f.nest(300, 1)
		return f.holding(entry("40000", "z", ids[len(ids)-1]), ids...)
	}},
	{"300 directories in each other, each also near the top", func(f *forger) string {
		ids := f.nest(300, 1)
		var all strings.Builder
		for i, id := range ids[1:] {
			all.WriteString(entry("40000", fmt.Sprintf("z%03d", i), id))
		}
		return f.holding(all.String(), ids...)
	}},
	{"a commit without an author", commit("tree TREE\nparent START\ncommitter DEV\n\nforged\n")},
	{"a commit with a zero byte", commit("tree TREE\nparent START\nauthor DEV\ncommitter DEV\n\nseen\x00hidden\n")},
	{"a commit that is no text", commit("nothing")},
	{"a tree that breaks off", func(f *forger) string {
		tree := f.object("tree", "100644 z.txt")
		head := f.commitOn(tree, f.start)
		return f.bundle(head, tree, head)
	}},
	{".git as a directory", func(f *forger) string {
		config := f.object("blob", "[core]\n\tsshCommand = touch /tmp/x\n")
		inner := f.object("tree", entry("100644", "config", config))
		tree := f.object("tree", entry("40000", ".git", inner))
		head := f.commitOn(tree, f.start)
		return f.bundle(head, config, inner, tree, head)
	}},
	{".git in another spelling", only("100644", "git~1", "x\n")},
	{"a path with ..", only("100644", "..", "x\n")},
	{"a path with a slash", more("100644", "z/../../x")},
	{"a mode with a zero in front", more("0100644", "z.txt")},
	{"a mode that is none of git's", more("104755", "z.txt")},
	{"a name twice", func(f *forger) string {
		blob, other := f.object("blob", "x\n"), f.object("blob", "y\n")
		return f.holding(entry("100644", "z.txt", blob)+entry("100644", "z.txt", other), blob, other)
	}},
	{"a file where a directory is", more("40000", "z")},
	{"an option as the address of a submodule", only("100644", ".gitmodules", "[submodule \"x\"]\n\tpath = x\n\turl = -u./payload\n")},
	{"a submodule that leaves the tree", only("100644", ".gitmodules", "[submodule \"../../.git\"]\n\tpath = x\n\turl = https://example.com/x\n")},
	{".gitmodules as a symbolic link", only("120000", ".gitmodules", "/etc/passwd")},
	{"a symbolic link in place of the file", func(f *forger) string {
		head, ids := f.honest()
		f.bundle(head, ids...)
		require.NoError(f.T, os.Rename(f.file, f.file+".true"))
		require.NoError(f.T, os.Symlink(f.file+".true", f.file))
		return head
	}},
	{"a pipe in place of the file", func(f *forger) string {
		require.NoError(f.T, syscall.Mkfifo(f.file, 0o600))
		return absent
	}},
	{"a directory in place of the file", func(f *forger) string {
		require.NoError(f.T, os.Mkdir(f.file, 0o700))
		return absent
	}},
	{"a file over the limit", func(f *forger) string {
		head, ids := f.honest()
		f.bundle(head, ids...)
		require.NoError(f.T, os.Truncate(f.file, transport.MaxBundle+1))
		return head
	}},
}
