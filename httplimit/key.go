package httplimit

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
)

// KeyFunc says whose request it is. The empty key is one like any other: all requests without a key share it. A function of
// your own may ask the request's context for whom an earlier handler has found there.
type KeyFunc func(*http.Request) string

// longestKey is how many bytes a key may have; a longer one is known by its SHA-256, so that strangers cannot make a limiter
// hold or send long ones.
const longestKey = 256

// of is the key of a request in the form in which limiters get it.
func (k KeyFunc) of(r *http.Request) string {
	key := k(r)
	if len(key) > longestKey {
		sum := sha256.Sum256([]byte(key))
		return "sha256 " + hex.EncodeToString(sum[:])
	}
	return key
}

// Header is the value of the first header field of that name. Whoever sends none has the empty key: see First. A client
// that may choose the value may also choose a new one for each request, so take a header only where something before has
// made sure of it. Host is http.Request's, which has it apart from the others.
func Header(name string) KeyFunc {
	if http.CanonicalHeaderKey(name) == "Host" {
		return func(r *http.Request) string { return r.Host }
	}
	return func(r *http.Request) string { return r.Header.Get(name) }
}

// BasicUser is the user name of basic authentication (RFC 7617), empty without one. The password is not looked at: put the
// handler that checks it before this one.
func BasicUser(r *http.Request) string {
	user, _, _ := r.BasicAuth()
	return user
}

// First is the first of keys that is not empty: an API key, or else the client's address. Which of them it was is part of the
// key, so that nobody can send somebody else's address as an API key.
func First(keys ...KeyFunc) KeyFunc {
	return func(r *http.Request) string {
		for i, key := range keys {
			if key == nil {
				continue
			}
			if k := key(r); k != "" {
				return strconv.Itoa(i) + " " + k
			}
		}
		return ""
	}
}
