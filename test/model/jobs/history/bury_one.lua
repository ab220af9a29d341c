-- Deletes finished chains, as a step of the product would.
local call = redis.call
--#include base/lib/usage
--#include ledger/retention/forget
--#include jobs/history/blocks
--#include jobs/history/sealed
--#include jobs/history/bury

local chains = ROWS.chains
local queue = {
  localId = ARGV.localId, meta = KEYS.meta, history = KEYS.history, blocks = KEYS.blocks, summaries = KEYS.summaries,
  callRecords = KEYS.callRecords, failedCalls = KEYS.failedCalls, successfulCalls = KEYS.successfulCalls,
}
for _, chain in ipairs(chains) do bury(queue, chain, tonumber(ARGV.shards)) end
Usage.write(KEYS.teamUsage)
return 0
