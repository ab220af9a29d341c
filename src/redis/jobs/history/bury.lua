-- Shared by the steps that delete ended chains. Declares `bury`. Wants `forget`, `Usage` and `Sealed`, and the keys
-- `shardUsage` and `oldestCalls`.

-- Deletes a finished chain: its summary, its index entry and its call records. Its id stays in the history as a tombstone
-- until the history is trimmed that far, because taking it out would take as long as the list, and would move the pages of
-- those who read it. The keys of the queue are in `queue`, under their names: `meta`, `history`, `blocks`, `summaries`,
-- `callRecords`, `failedCalls` and `successfulCalls`, beside its `localId`. `chain` has `root`, `jobIndex` and `field`;
-- `shards` is how many there are. Answers whether there was such a chain. The caller writes `Usage`.
local ATTEMPTS = 16
local function bury(queue, chain, shards)
  local root = chain.root
  local bytes = call('HSTRLEN', queue.summaries, root)
  if call('HDEL', queue.summaries, root) == 0 then return false end
  call('HINCRBY', queue.meta, QUEUE.tombstones, 1)
  forget(chain.jobIndex, chain.field, queue.localId)
  queue.team = queue.team or Usage.team_of(call('HGET', queue.meta, QUEUE.name))
  Sealed.bury(queue.team, queue, root, bytes)
  Usage.note(queue.team, -bytes, 0, 0)
  if call('EXISTS', queue.callRecords) == 0 then return true end
  local call_bytes = 0
  for attempt = 0, ATTEMPTS - 1 do
    local job = string.format('%.0f', tonumber(root) + attempt * shards)
    local size = call('HSTRLEN', queue.callRecords, job)
    if size > 0 then
      call_bytes = call_bytes + size
      call('HDEL', queue.callRecords, job)
      if call('LREM', queue.failedCalls, 1, job) == 0 then call('LREM', queue.successfulCalls, 1, job) end
    end
  end
  if call_bytes == 0 then return true end
  Usage.note(queue.team, -call_bytes, 0, 0)
  call('HINCRBY', KEYS.shardUsage, SHARD_USAGE.callBytes, -call_bytes)
  if call('EXISTS', queue.callRecords) == 0 then call('ZREM', KEYS.oldestCalls, queue.localId) end
  return true
end
