#!lua
-- reserve_queue: the local id of a queue name, made when new; nothing else is written.
-- KEYS  1 names  2 qseq
-- ARGV  team/name, highest local id the caller knows, queues at most
-- Answer: the local id (≥ 1), or '' when the shard holds as many queues as it may.
local found = redis.call('HGET', KEYS[1], ARGV[1])
if found then return found end
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then return '' end
local id = string.format('%.0f', math.max(tonumber(redis.call('GET', KEYS[2]) or '0'), tonumber(ARGV[2])) + 1)
redis.call('SET', KEYS[2], id)
redis.call('HSET', KEYS[1], ARGV[1], id)
return id
