#!lua
-- reserve_queue: the local id of a queue name, made when new; nothing else is written.
-- KEYS  1 names  2 qseq  3 term
-- ARGV  team/name, highest local id the caller knows, queues at most, term or '' (no leader)
-- Answer: the local id (≥ 1), or '' when the shard holds as many queues as it may, or 'superseded' when the name is new
--       and another term is known.
local call = redis.call
--#include term

local found = call('HGET', KEYS[1], ARGV[1])
if found then return found end
if is_superseded(KEYS[3], ARGV[4]) then return 'superseded' end
if call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then return '' end
local id = string.format('%.0f', math.max(tonumber(call('GET', KEYS[2]) or '0'), tonumber(ARGV[2])) + 1)
call('SET', KEYS[2], id)
call('HSET', KEYS[1], ARGV[1], id)
return id
