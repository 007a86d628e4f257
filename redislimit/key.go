package redislimit

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// longest is how many bytes a key may have; a longer one is stored under its SHA-256.
const longest = 200

// keyName is the name under which a server holds a key: readable, different for different policies, prefixes and keys,
// and with a hash tag, so that a Cluster knows which node holds it. The tag is the whole key, or, where the key has one of
// its own, such as {acme}/user-7, that.
//
//	weir:gcra:api:{client-42}
//	weir:gcra:api:@{acme}/user-7
//	weir:gcra:api:#{SHA-256 of a long key}
//	weir:gcra:api:#@{acme}SHA-256 of a long key with a tag
//	weir:gcra:api:{%} of the empty key
//
// The characters %, { and } are written %25, %7B and %7D where they could be taken for something else, and so is : in the
// prefix.
func keyName(stem, key string) string {
	if key == "" { // Redis takes no empty tag: two names of it would have two nodes
		return stem + "{%}"
	}
	if len(key) <= longest && !strings.ContainsAny(key, "%{}") {
		return stem + "{" + key + "}"
	}
	before, tag, after, tagged := ownTag(key)
	switch {
	case len(key) > longest && tagged:
		return stem + "#@{" + shortTag(tag) + "}" + digest(key)
	case len(key) > longest:
		return stem + "#{" + digest(key) + "}"
	case tagged:
		return stem + "@" + escaped.Replace(before) + "{" + escaped.Replace(tag) + "}" + escaped.Replace(after)
	}
	return stem + "{" + escaped.Replace(key) + "}"
}

// stem is what the names of all keys of a policy and prefix begin with.
func stem(policy, prefix string) string {
	return "weir:" + policy + ":" + strings.ReplaceAll(escaped.Replace(prefix), ":", "%3A") + ":"
}

var escaped = strings.NewReplacer("%", "%25", "{", "%7B", "}", "%7D")

// ownTag finds the tag of a key as Redis does: what is between the first { and the first } after it, if that is not empty.
func ownTag(key string) (before, tag, after string, ok bool) {
	before, rest, found := strings.Cut(key, "{")
	if !found {
		return "", "", "", false
	}
	tag, after, found = strings.Cut(rest, "}")
	return before, tag, after, found && tag != ""
}

// shortTag is the tag of a long key: the same as that of short keys, unless the tag is long itself. No tag that is
// written out holds a bare {.
func shortTag(tag string) string {
	if len(tag) > longest {
		return "%" + digest(tag)
	}
	return escaped.Replace(tag)
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// hashTag is the tag of a name that keyName made.
func hashTag(name string) string {
	_, tag, _, _ := ownTag(name)
	return tag
}
