#!lua flags=allow-oom
-- place_cron: notes in a cron's home shard where it lives, in the order in which it is looked for.
-- KEYS  1 kn  2 ki  3 epoch
-- ARGV  team/name, cron id, epoch or '' (no leader), what is noted as far as the caller knows, what is to be: shards by
--       commas, '' = at home
-- Answer 'superseded' when a later epoch is known · 'gone' when the name has another id by now · 'moved' when another
--       place is noted, else 'placed'.
local call = redis.call
--#include lib/epoch

local field, id, known, places = ARGV[1], ARGV[2], ARGV[4], ARGV[5]
if is_superseded(KEYS[3], ARGV[3]) then return 'superseded' end
if call('HGET', KEYS[1], field) ~= id then return 'gone' end
local noted = call('HGET', KEYS[2], id) or ''
if noted == places then return 'placed' end
if noted ~= known then return 'moved' end
if places == '' then call('HDEL', KEYS[2], id) else call('HSET', KEYS[2], id, places) end
return 'placed'
