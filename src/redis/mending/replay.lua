#!lua
-- replay: makes a new pending job of a dead letter, due now, and moves the dead letter to the finished chains with a note
-- of the new job. Sent twice, done once. request '' = the letter's own · timeoutSeconds '' = the queue's · ceilings are as
-- in lib/quota.lua.
-- Answer {'ok' or 'again', due, woken} · {'not_dead'} no such dead letter, or a damaged one · {'foreign_block'} the id
--       block belongs to another process · {'draining'} its queue takes no new jobs · {the name of a quota}
-- Transition: dead-lettered → new pending job.
--#include lib/clock
--#include lib/bands
--#include lib/ring
--#include lib/usage
--#include lib/quota
--#include lib/record
--#include acts/remake
--#include acts/replay_letter
--#include audit-log/audit_log

local now = shard_now(KEYS.clock, KEYS.executors, tonumber(ARGV.leaseMs))
Quota.bound(now, ARGV.month, ARGV.monthEndsMs, ARGV.allBytesMax)
local queue = {
  localId = ARGV.localId, meta = KEYS.meta, ready = KEYS.ready, records = KEYS.records, inFlight = KEYS.inFlight,
  payloads = KEYS.payloads, deadLetters = KEYS.deadLetters, deadLetterRecords = KEYS.deadLetterRecords,
  history = KEYS.history, summaries = KEYS.summaries,
  quota = Quota.add_team(ARGV.team, ARGV.jobsMax, ARGV.bytesMax, ARGV.monthMax, ARGV.isShare),
}
use_ring(KEYS.ring, KEYS.teams)
local answer, due, woken = Remake.replay(queue, {
  root = ARGV.rootId, oldSeq = ARGV.oldSeq, id = ARGV.newJobId, seq = ARGV.newSeq, jobIndex = KEYS.jobIndex,
  field = ARGV.newField, nonce = ARGV.nonce, timeout = ARGV.timeoutSeconds, request = ARGV.request, large = ARGV.large,
  summary = ARGV.summary,
}, now, ARGV.retainMs)
if answer == 'ok' then
  Usage.write(KEYS.teamUsage)
  Quota.write(KEYS.teamUsage)
  AuditLog.add(KEYS.auditLog, KEYS.auditCounts, ARGV.auditEntry, ARGV.auditMax, ARGV.auditMs)
end
return due and { answer, due, woken } or { answer }
