#!lua flags=allow-oom
-- place_cron: notes in a cron's home shard where it lives, in the order in which it is looked for.
-- KEYS  1 kn  2 ki  3 term
-- ARGV  team/name, cron id, term or '' (no leader), shards by commas or '' (at home)
-- Answer 'superseded' when a later term is known · 'moved' when the name has another id by now, else 'placed'.
local call = redis.call
--#include term

local field, id, places = ARGV[1], ARGV[2], ARGV[4]
if is_superseded(KEYS[3], ARGV[3]) then return 'superseded' end
if call('HGET', KEYS[1], field) ~= id then return 'moved' end
if places == '' then call('HDEL', KEYS[2], id) else call('HSET', KEYS[2], id, places) end
return 'placed'
