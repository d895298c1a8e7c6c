package sandbox

import (
	"encoding/base64"
	"encoding/binary"
	"strings"
)

// nodeID makes a GraphQL id: a prefix that names the type, as GitHub's own ids have it, and the database id.
func nodeID(prefix string, id int64) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(id))
	return prefix + "_kwDO" + base64.RawURLEncoding.EncodeToString(b[:])
}

// parseNodeID splits what nodeID made.
func parseNodeID(node string) (prefix string, id int64, ok bool) {
	prefix, rest, ok := strings.Cut(node, "_kwDO")
	if !ok {
		return "", 0, false
	}
	b, err := base64.RawURLEncoding.DecodeString(rest)
	if err != nil || len(b) != 8 {
		return "", 0, false
	}
	return prefix, int64(binary.BigEndian.Uint64(b)), true
}

// The prefixes of node ids.
const (
	nodeUser          = "U"
	nodeBot           = "BOT"
	nodeRepository    = "R"
	nodeIssue         = "I"
	nodePull          = "PR"
	nodeComment       = "IC"
	nodeReview        = "PRR"
	nodeReviewComment = "PRRC"
	nodeThread        = "PRRT"
	nodeLabel         = "LA"
	nodeLabeled       = "LE"
	nodeUnlabeled     = "UNLE"
	nodeRenamed       = "RTE"
	nodeBaseChanged   = "BRCE"
	nodeDeletion      = "CDE"
	nodeReviewRequest = "RR"
	nodeTeam          = "TEAM"
	nodeEdit          = "UCE"
	nodeReaction      = "REA"
	nodeRun           = "WFR"
	nodeCheckRun      = "CR"
	nodeStatus        = "SC"
	nodeCheckSuite    = "CS"
	nodeApp           = "A"
	nodeQueueEntry    = "MQE"
	nodeQueueAdded    = "ATMQE"
	nodeQueueRemoved  = "RFMQE"
)
