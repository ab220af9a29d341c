#!lua flags=allow-oom
-- fire: makes a delayed job due now. `asked`: when the caller asked first, so that a step that was sent twice answers
-- alike.
-- Answer {'fired' · 'fired_before' · 'due' (it waits for a slot already) · 'in_flight' · 'not_pending' · 'damaged', queues
--       that became runnable}
-- Transition: pending (delayed) → pending (ready).
--#include lib/clock
--#include lib/usage
--#include lib/record
--#include lib/suspects
--#include lib/bands
--#include lib/ring
--#include acts/open_job
--#include acts/fire_job
--#include audit-log/audit_log

local now = shard_now(KEYS.clock, KEYS.executors, tonumber(ARGV.leaseMs))
local queue = {
  localId = ARGV.localId, meta = KEYS.meta, ready = KEYS.ready, records = KEYS.records, inFlight = KEYS.inFlight,
}
use_ring(KEYS.ring, KEYS.teams)
local answer, woken = OpenJob.fire(queue, { id = ARGV.jobId }, now, tonumber(ARGV.asked))
if answer == 'fired' then
  Usage.write(KEYS.teamUsage)
  AuditLog.add(KEYS.auditLog, KEYS.auditCounts, ARGV.auditEntry, ARGV.auditMax, ARGV.auditMs)
end
return { answer, woken }
