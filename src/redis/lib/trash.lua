-- Shared by the steps that delete queues. Declares `delete_contents`. Wants `Usage`.

-- Removes all that a queue holds, in the same time for one job or a million. What holds settings or index entries is
-- renamed to trash, which sweep empties in pages; the team's bytes in it are counted until then. keys: q r a x h c cf co; kept and trash: b d xb p each.
local function delete_contents(shard, id, keys, kept, trash)
  local team = Usage.team_of(call('HGET', keys.q, 'n'))
  local hash = call('HGET', keys.q, 's')
  local bytes = 0
  for _, call_id in ipairs(call('HKEYS', keys.c)) do bytes = bytes + call('HSTRLEN', keys.c, call_id) end
  local there = {}
  for i, key in ipairs(kept) do if call('EXISTS', key) == 1 then table.insert(there, i) end end
  call('ZREM', shard.ring, id)
  call('ZREM', shard.cq, id)
  call('ZREM', shard.gc, id)
  Usage.note(team, -bytes, -call('HLEN', kept[1]), -call('ZCARD', keys.a))
  Usage.write(shard.tu)
  if #there > 0 then
    call('ZADD', shard.gc, 0, 't' .. id)
    if team then call('HSET', shard.tu, 't' .. id, team) end
  end
  for _, i in ipairs(there) do call('RENAME', kept[i], trash[i]) end
  if bytes > 0 then call('HINCRBY', shard.use, 'calls', -bytes) end
  if hash and call('HINCRBY', shard.setn, hash, -1) <= 0 then
    call('HDEL', shard.setn, hash)
    call('HDEL', shard.set, hash)
  end
  call('UNLINK', keys.q, keys.r, keys.a, keys.x, keys.h, keys.c, keys.cf, keys.co)
end
