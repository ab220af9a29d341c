#!lua
-- reserve_queue: the local id of a queue name, made when new. Beside the name only its team's index is written.
-- KEYS  1 names  2 qseq  3 epoch  4 qn:<team>
-- ARGV  team/name, highest local id the caller knows, queues at most, epoch or '' (no leader), queues of the
--       team here at most or ''
-- Answer: the local id (≥ 1), or '' when the shard holds as many queues as it may, or 'superseded' when the name is new
--       and another epoch is known, or 'quota' when the name is new and the team has as many queues as it may.
local call = redis.call
--#include lib/epoch
--#include lib/team_index

local found = call('HGET', KEYS[1], ARGV[1])
if found then return found end
if is_superseded(KEYS[3], ARGV[4]) then return 'superseded' end
if call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then return '' end
local team_max = tonumber(ARGV[5])
if team_max and call('ZCARD', KEYS[4]) >= team_max then return 'quota' end
local id = string.format('%.0f', math.max(tonumber(call('GET', KEYS[2]) or '0'), tonumber(ARGV[2])) + 1)
call('SET', KEYS[2], id)
note_name(KEYS[4], ARGV[1])
call('HSET', KEYS[1], ARGV[1], id)
return id
