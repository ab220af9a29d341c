-- Shared by the steps that delete a queue. Declares `delete_contents`. Wants `Usage`, `Sealed` and every key of the queue.

-- Removes everything a queue holds, in the same time for one job or a million. Whatever holds settings or index entries is
-- renamed to trash, which `sweep` empties in pages; until then its bytes count for the team.
local function delete_contents(id)
  local team = Usage.team_of(call('HGET', KEYS.meta, QUEUE.name))
  local hash = call('HGET', KEYS.meta, QUEUE.settingsHash)
  local bytes = 0
  for _, call_id in ipairs(call('HKEYS', KEYS.callRecords)) do
    bytes = bytes + call('HSTRLEN', KEYS.callRecords, call_id)
  end
  local renames = {}
  local function rename_later(key, trash)
    if call('EXISTS', key) == 1 then table.insert(renames, { key, trash }) end
  end
  rename_later(KEYS.records, KEYS.trashedRecords)
  rename_later(KEYS.summaries, KEYS.trashedSummaries)
  rename_later(KEYS.deadLetterRecords, KEYS.trashedDeadLetterRecords)
  rename_later(KEYS.payloads, KEYS.trashedPayloads)
  call('ZREM', KEYS.ring, id)
  call('ZREM', KEYS.oldestCalls, id)
  call('ZREM', KEYS.retentionDue, id)
  call('HDEL', KEYS.limitWarnings, 'queue_saturated|q' .. id, 'dead_letters_growing|q' .. id,
    'dead_letters_expiring|q' .. id)
  Usage.note(team, -bytes, -call('HLEN', KEYS.records), -call('ZCARD', KEYS.inFlight))
  Usage.write(KEYS.teamUsage)
  local queue = { localId = id, meta = KEYS.meta, history = KEYS.history, blocks = KEYS.blocks }
  if team then Sealed.drop_blocks(team, queue) end
  -- The next look at the team's issues removes those of this queue.
  if team then call('ZADD', KEYS.issuesDue, 'XX', 0, team) end
  if #renames > 0 then
    call('ZADD', KEYS.retentionDue, 0, 't' .. id)
    if team then call('HSET', KEYS.teamUsage, 't' .. id, team) end
  end
  for _, keys in ipairs(renames) do call('RENAME', keys[1], keys[2]) end
  if bytes > 0 then call('HINCRBY', KEYS.shardUsage, SHARD_USAGE.callBytes, -bytes) end
  if hash and call('HINCRBY', KEYS.settingsUses, hash, -1) <= 0 then
    call('HDEL', KEYS.settingsUses, hash)
    call('HDEL', KEYS.settings, hash)
  end
  call('UNLINK', KEYS.meta, KEYS.ready, KEYS.inFlight, KEYS.deadLetters, KEYS.history, KEYS.callRecords,
    KEYS.failedCalls, KEYS.successfulCalls, KEYS.blocks)
end
