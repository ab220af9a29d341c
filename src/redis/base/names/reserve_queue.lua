#!lua
-- reserve_queue: finds the local id of a queue name, or makes one. Beside the name it writes only its team's index.
-- Answer: the local id (≥ 1). For a new name also '' when the shard's queue limit is reached, 'superseded' when the shard
--       has another leader epoch, or 'quota' when the team's queue limit is reached.
local call = redis.call
--#include base/lib/epoch
--#include base/lib/team_index

local found = call('HGET', KEYS.queueIds, ARGV.field)
if found then return found end
if is_superseded(KEYS.leaderEpoch, ARGV.epoch) then return 'superseded' end
if call('HLEN', KEYS.queueIds) >= tonumber(ARGV.queuesMax) then return '' end
local team_max = tonumber(ARGV.teamQueuesMax)
if team_max and call('ZCARD', KEYS.teamQueues) >= team_max then return 'quota' end
local highest = math.max(tonumber(call('GET', KEYS.queueNumber) or '0'), tonumber(ARGV.highestId))
local id = string.format('%.0f', highest + 1)
call('SET', KEYS.queueNumber, id)
note_name(KEYS.teamQueues, ARGV.field)
call('HSET', KEYS.queueIds, ARGV.field, id)
return id
