-- A large log is freed in the background.
redis.call('UNLINK', KEYS[1])
return {0}
