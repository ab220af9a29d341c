#!lua
-- reserve_cron: the local id of a cron's name in its home shard, made when new. Beside the name only its team's
-- index is written.
-- KEYS  1 kn  2 qseq  3 epoch  4 q  5 ki  6 ks  7 kn:<team>
-- ARGV  team/name, highest local id the caller knows, crons at most, epoch or '' (no leader), shards, shard,
--       local id it had before or '', which it gets again if nothing else has it. `q` is that id's hidden queue, or
--       that of number 0, which there is none of.
-- Answer: the cron's id, or '' when the shard holds as many crons as it may, or 'superseded' when the name is new and a
--       later epoch is known.
local call = redis.call
--#include lib/team_index
--#include lib/epoch

local found = call('HGET', KEYS[1], ARGV[1])
if found then return found end
if is_superseded(KEYS[3], ARGV[4]) then return 'superseded' end
if call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then return '' end
local highest = math.max(tonumber(call('GET', KEYS[2]) or '0'), tonumber(ARGV[2]))
local former = tonumber(ARGV[7])
local function id_of(number) return string.format('%.0f', number * tonumber(ARGV[5]) + tonumber(ARGV[6])) end
local function is_free(number)
  -- Its hidden queue is not made before its first tick, and never where it runs through another one.
  return call('EXISTS', KEYS[4]) == 0 and call('HEXISTS', KEYS[5], id_of(number)) == 0
    and call('HEXISTS', KEYS[6], id_of(number)) == 0
end
local number = former and is_free(former) and former or highest + 1
if number > highest then call('SET', KEYS[2], string.format('%.0f', number)) end
local id = id_of(number)
note_name(KEYS[7], ARGV[1])
call('HSET', KEYS[1], ARGV[1], id)
return id
