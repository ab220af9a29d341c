#!lua
-- retry: makes a new pending job of a finished chain, due now, and notes the new job in the chain's summary. Sent twice,
-- done once. before: the summary as the caller read it · the rest as for replay.
-- Answer as replay, with {'changed'} for {'not_dead'}: the summary is another by now.
-- Transition: (none) → pending.
--#include lib/clock
--#include lib/bands
--#include lib/ring
--#include lib/usage
--#include lib/quota
--#include lib/record
--#include acts/remake
--#include acts/retry_chain
--#include audit-log/audit_log

local now = shard_now(KEYS.clock, KEYS.executors, tonumber(ARGV.leaseMs))
Quota.bound(now, ARGV.month, ARGV.monthEndsMs, ARGV.allBytesMax)
local queue = {
  localId = ARGV.localId, meta = KEYS.meta, ready = KEYS.ready, records = KEYS.records, inFlight = KEYS.inFlight,
  payloads = KEYS.payloads, summaries = KEYS.summaries,
  quota = Quota.add_team(ARGV.team, ARGV.jobsMax, ARGV.bytesMax, ARGV.monthMax, ARGV.isShare),
}
use_ring(KEYS.ring, KEYS.teams)
local answer, due, woken = Remake.retry(queue, {
  root = ARGV.rootId, id = ARGV.newJobId, seq = ARGV.newSeq, jobIndex = KEYS.jobIndex, field = ARGV.newField,
  nonce = ARGV.nonce, timeout = ARGV.timeoutSeconds, request = ARGV.request, large = ARGV.large,
  summary = ARGV.summary, before = ARGV.before,
}, now)
if answer == 'ok' then
  Usage.write(KEYS.teamUsage)
  Quota.write(KEYS.teamUsage)
  AuditLog.add(KEYS.auditLog, KEYS.auditCounts, ARGV.auditEntry, ARGV.auditMax, ARGV.auditMs)
end
return due and { answer, due, woken } or { answer }
