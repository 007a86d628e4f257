package redislimit

import (
	"crypto/sha1"
	_ "embed"
	"encoding/hex"
	"strings"
)

// The parts that scripts are made of; see each for what it does.
var (
	//go:embed lua/prelude.lua
	preludeLua string
	//go:embed lua/one.lua
	oneLua string
	//go:embed lua/many.lua
	manyLua string
	//go:embed lua/main.lua
	mainLua string
	//go:embed lua/gcra.lua
	gcraLua string
	//go:embed lua/tokenbucket.lua
	tokenbucketLua string
	//go:embed lua/leakybucket.lua
	leakybucketLua string
	//go:embed lua/dualbucket.lua
	dualbucketLua string
	//go:embed lua/slidinglog.lua
	slidinglogLua string
	//go:embed lua/swap.lua
	swapLua string
	//go:embed lua/was.lua
	wasLua string
	//go:embed lua/forget.lua
	forgetLua string
	//go:embed lua/scan.lua
	scanLua string
)

// sources are the scripts by digest. It is filled before main and only read then.
var sources = map[string]string{}

// script makes one of parts and gives its digest.
func script(parts ...string) string {
	source := strings.Join(parts, "")
	sum := sha1.Sum([]byte(source))
	digest := hex.EncodeToString(sum[:])
	sources[digest] = source
	return digest
}

// single is the script of one bucket; head is how many bytes of a text are numbers.
func single(lua, head string) string {
	read, show := snippets(lua)
	return script(prelude("ARGV[3] or 'take'", "ARGV[4]"), strings.NewReplacer("HEAD", head, "READ\n", read, "SHOW\n", show).Replace(oneLua))
}

// prelude is the beginning of a script that has what to do, and now or nil, from there.
func prelude(op, now string) string {
	return strings.NewReplacer("OP", op, "NOW", now).Replace(preludeLua)
}

// many is a script for several limits, or for one that is not a single bucket.
func many(parts ...string) string {
	return script(append(append([]string{prelude("ARGV[1]", "ARGV[2] ~= '' and ARGV[2] or nil"), manyLua}, parts...), mainLua)...)
}

// snippets are the two parts of the file of a single bucket: how w and r are read from a text, and how they are shown.
func snippets(lua string) (read, show string) {
	_, lua, _ = strings.Cut(lua, "-- read\n")
	read, show, _ = strings.Cut(lua, "-- show\n")
	return read, show
}

// among puts a single bucket among several policies.
func among(name, lua, head string) string {
	read, show := snippets(lua)
	return "policies." + name + " = single(" + head + ", function(text, lw, lr, p)\nlocal w, r\n" + read +
		"return w, r, held\nend, function(w, r, lw, lr, p, limit)\nlocal text\n" + show + "return text\nend)\n"
}

// The digests.
var (
	oneScript = map[string]string{
		gcra:        single(gcraLua, "16"),
		tokenBucket: single(tokenbucketLua, "24"),
		leakyBucket: single(leakybucketLua, "24"),
		dualBucket:  many(dualbucketLua),
		slidingLog:  many(slidinglogLua),
	}
	manyScript = many(among(gcra, gcraLua, "16"), among(tokenBucket, tokenbucketLua, "24"),
		among(leakyBucket, leakybucketLua, "24"), dualbucketLua, slidinglogLua)
	swapScript   = script(swapLua)
	wasScript    = script(wasLua)
	forgetScript = script(forgetLua)
	scanScript   = script(scanLua)
)
