-- A large log is freed in the background.
redis.call('UNLINK', unpack(KEYS))
return {0}
