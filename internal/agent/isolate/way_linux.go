package isolate

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
)

// An access control list as the kernel reads and writes it: a version, then entries of tag, permissions and id
// (https://git.kernel.org/pub/scm/linux/kernel/git/torvalds/linux.git/tree/include/uapi/linux/posix_acl_xattr.h).
const (
	aclName    = "system.posix_acl_access"
	aclVersion = 2
	aclEntry   = 8 // bytes

	aclUserObj  = 0x01
	aclUser     = 0x02
	aclGroupObj = 0x04
	aclMask     = 0x10
	aclOther    = 0x20

	aclExecute = 1
	aclNobody  = ^uint32(0)
)

type aclLine struct {
	tag, permissions uint16
	id               uint32
}

// pass opens a directory to its user, or closes it again.
func (l Spec) pass() error {
	if l.Way.Back {
		return l.Way.close()
	}
	if err := l.Way.open(); err != nil {
		return fmt.Errorf("let user %d pass through %s: %w", l.Way.UID, l.Way.Dir, err)
	}
	return nil
}

func (w Way) open() error {
	lines, _, err := w.now()
	if err != nil {
		return err
	}
	return syscall.Setxattr(w.Dir, aclName, writeACL(passable(lines, uint32(w.UID))), 0) //nolint:gosec // a user id
}

// close takes the entry of the user away, and of the list no more: another run may have one in it.
func (w Way) close() error {
	err := w.closeNow()
	if err != nil && !errors.Is(err, syscall.ENOENT) {
		return fmt.Errorf("close %s to user %d again: %w", w.Dir, w.UID, err)
	}
	return nil
}

func (w Way) closeNow() error {
	lines, mode, err := w.now()
	if err != nil {
		return err
	}
	lines = slices.DeleteFunc(lines, func(l aclLine) bool { return l.tag == aclUser && l.id == uint32(w.UID) }) //nolint:gosec // a user id
	if slices.ContainsFunc(lines, named) {
		return syscall.Setxattr(w.Dir, aclName, writeACL(lines), 0)
	}
	if err := syscall.Removexattr(w.Dir, aclName); err != nil && !errors.Is(err, syscall.ENODATA) {
		return err
	}
	for _, l := range lines { // the mask was in the place of the group's permissions
		if l.tag == aclGroupObj {
			mode = mode&^0o070 | uint32(l.permissions)<<3
		}
	}
	return syscall.Chmod(w.Dir, mode)
}

// now is the list of the directory, and its permissions.
func (w Way) now() ([]aclLine, uint32, error) {
	info, err := os.Stat(w.Dir)
	if err != nil {
		return nil, 0, unwrap(err)
	}
	mode := status(info).Mode & 0o7777
	raw, err := getACL(w.Dir)
	if err != nil {
		return nil, 0, err
	}
	lines, err := readACL(raw, mode)
	return lines, mode, err
}

// named says that an entry is that of a user or group by its number.
func named(l aclLine) bool {
	return l.tag != aclUserObj && l.tag != aclGroupObj && l.tag != aclOther && l.tag != aclMask
}

func getACL(dir string) ([]byte, error) {
	buf := make([]byte, 64<<10) // the kernel's limit of an attribute
	n, err := syscall.Getxattr(dir, aclName, buf)
	switch {
	case errors.Is(err, syscall.ENODATA):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return slices.Clone(buf[:n]), nil
}

// readACL gives the entries of a list, or those that the permissions stand for where there is none.
func readACL(raw []byte, mode uint32) ([]aclLine, error) {
	if raw == nil {
		return []aclLine{
			{aclUserObj, uint16(mode >> 6 & 7), aclNobody}, {aclGroupObj, uint16(mode >> 3 & 7), aclNobody}, {aclOther, uint16(mode & 7), aclNobody},
		}, nil
	}
	if len(raw) < 4 || (len(raw)-4)%aclEntry != 0 || binary.LittleEndian.Uint32(raw) != aclVersion {
		return nil, errors.New("its access control list cannot be read")
	}
	var lines []aclLine
	for at := raw[4:]; len(at) > 0; at = at[aclEntry:] {
		lines = append(lines, aclLine{binary.LittleEndian.Uint16(at), binary.LittleEndian.Uint16(at[2:]), binary.LittleEndian.Uint32(at[4:])})
	}
	return lines, nil
}

func writeACL(lines []aclLine) []byte {
	raw := binary.LittleEndian.AppendUint32(nil, aclVersion)
	for _, l := range lines {
		raw = binary.LittleEndian.AppendUint16(raw, l.tag)
		raw = binary.LittleEndian.AppendUint16(raw, l.permissions)
		raw = binary.LittleEndian.AppendUint32(raw, l.id)
	}
	return raw
}

// passable adds that a user may pass, and a mask that lets this through and takes nothing from the group. The kernel wants
// the entries in the order of their tags and ids.
func passable(lines []aclLine, uid uint32) []aclLine {
	mask := uint16(aclExecute)
	lines = slices.DeleteFunc(slices.Clone(lines), func(l aclLine) bool {
		switch l.tag {
		case aclMask:
			mask |= l.permissions
			return true
		case aclUser:
			return l.id == uid
		}
		return false
	})
	if !slices.ContainsFunc(lines, named) {
		for _, l := range lines {
			if l.tag == aclGroupObj {
				mask |= l.permissions
			}
		}
	}
	lines = append(lines, aclLine{aclUser, aclExecute, uid}, aclLine{aclMask, mask, aclNobody})
	slices.SortFunc(lines, func(a, b aclLine) int {
		if a.tag != b.tag {
			return int(a.tag) - int(b.tag)
		}
		return int(int64(a.id) - int64(b.id))
	})
	return lines
}
