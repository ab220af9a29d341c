#!lua flags=allow-oom
-- remove_job: removes a pending job for good, or with `mayPurge` = 1 its chain that has ended. Others are left alone.
-- Answer 'cancelled' · 'purged' · 'buried' (a finished chain) · 'in_flight' · 'not_pending'.
-- Transition: pending → (none) · dead-lettered → (none) · finished → (none).
--#include lib/clock
--#include retention/forget
--#include lib/usage
--#include lib/record
--#include retention/release_settings
--#include lib/suspects
--#include lib/bands
--#include lib/ring
--#include acts/open_job
--#include acts/cancelled
--#include acts/cancel_job
--#include acts/dead_letter
--#include history/blocks
--#include history/sealed
--#include history/bury
--#include audit-log/audit_log

local now = shard_now(KEYS.clock, KEYS.executors, tonumber(ARGV.leaseMs))
local queue = {
  localId = ARGV.localId, meta = KEYS.meta, ready = KEYS.ready, records = KEYS.records, inFlight = KEYS.inFlight,
  payloads = KEYS.payloads, deadLetters = KEYS.deadLetters, deadLetterRecords = KEYS.deadLetterRecords,
  history = KEYS.history, blocks = KEYS.blocks, summaries = KEYS.summaries, callRecords = KEYS.callRecords, failedCalls = KEYS.failedCalls,
  successfulCalls = KEYS.successfulCalls,
}
local job = { id = ARGV.jobId, root = ARGV.rootId, seq = ARGV.seq, jobIndex = KEYS.jobIndex, field = ARGV.indexField }
use_ring(KEYS.ring, KEYS.teams)
local answer = OpenJob.cancel(queue, job, now)
OpenJob.trim_ready(queue)
if answer == 'not_pending' and ARGV.mayPurge == '1' and DeadLetter.purge(queue, job) then answer = 'purged' end
if answer == 'not_pending' and ARGV.mayPurge == '1' then
  if bury(queue, job, tonumber(ARGV.shards)) then answer = 'buried' end
end
if answer == 'in_flight' or answer == 'not_pending' then return answer end
Usage.write(KEYS.teamUsage)
AuditLog.add(KEYS.auditLog, KEYS.auditCounts, ARGV.auditEntry, ARGV.auditMax, ARGV.auditMs)
return answer
