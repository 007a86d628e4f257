module weir/redislimit/rueidis

go 1.26.0

require (
	github.com/redis/rueidis v1.0.79
	weir v0.0.0
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	golang.org/x/sys v0.47.0 // indirect
)

replace weir => ../..
