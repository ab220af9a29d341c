#!lua
-- reserve_cron: finds the id of a cron's name in its home shard, or makes one. A cron whose data was lost gets its former
-- local id again if nothing else has it. Beside the name it writes only its team's index. KEYS.meta is the hidden queue of
-- the former id; without a former id it is that of number 0, which never exists.
-- Answer: the cron's id. For a new name also '' when the shard's cron limit is reached, or 'superseded' when the shard has
--       another leader epoch.
local call = redis.call
--#include base/lib/team_index
--#include base/lib/epoch

local found = call('HGET', KEYS.cronIds, ARGV.field)
if found then return found end
if is_superseded(KEYS.leaderEpoch, ARGV.epoch) then return 'superseded' end
if call('HLEN', KEYS.cronIds) >= tonumber(ARGV.cronsMax) then return '' end
local highest = math.max(tonumber(call('GET', KEYS.queueNumber) or '0'), tonumber(ARGV.highestId))
local former = tonumber(ARGV.formerLocalId)
local function id_of(number) return string.format('%.0f', number * tonumber(ARGV.shards) + tonumber(ARGV.shard)) end
local function is_free(number)
  -- A hidden queue alone proves nothing: it exists only after a tick, and never for a cron with a queue of its own.
  return call('EXISTS', KEYS.meta) == 0 and call('HEXISTS', KEYS.cronShards, id_of(number)) == 0
    and call('HEXISTS', KEYS.cronStates, id_of(number)) == 0
end
local number = former and is_free(former) and former or highest + 1
if number > highest then call('SET', KEYS.queueNumber, string.format('%.0f', number)) end
local id = id_of(number)
note_name(KEYS.teamCrons, ARGV.field)
call('HSET', KEYS.cronIds, ARGV.field, id)
return id
