-- Deletes finished chains, as a step of the product would.
local call = redis.call
--#include lib/usage
--#include retention/forget
--#include history/bury

local chains = ROWS.chains
local bytes = 0
for _, chain in ipairs(chains) do
  bytes = bytes + (bury({
    meta = KEYS.meta, summaries = KEYS.summaries, callRecords = KEYS.callRecords,
    failedCalls = KEYS.failedCalls, successfulCalls = KEYS.successfulCalls,
  }, ARGV.localId, chain, tonumber(ARGV.shards)) or 0)
end
Usage.note(Usage.team_of(call('HGET', KEYS.meta, QUEUE.name)), -bytes, 0, 0)
Usage.write(KEYS.teamUsage)
return 0
