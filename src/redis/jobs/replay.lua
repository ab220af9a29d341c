#!lua
-- replay: makes a new pending job of a dead letter, due now, and moves the dead letter to the finished chains with a note
-- of the new job. Sent twice, done once. An empty timeout is the queue's.
-- Answer {'ok' or 'again', due, woken} · {'not_dead'} no such dead letter, or a damaged one · {'foreign_block'} the id
--       block belongs to another process.
-- Transition: dead-lettered → new pending job.
--#include lib/clock
--#include lib/bands
--#include lib/ring
--#include lib/usage
--#include lib/quota
--#include lib/record
--#include audit-log/audit_log

local queue_id, root, id, nonce = ARGV.localId, ARGV.rootId, ARGV.newJobId, ARGV.nonce
local now = shard_now(KEYS.clock, KEYS.executors, tonumber(ARGV.leaseMs))
if (call('HGET', KEYS.jobIndex, INDEX.owner) or nonce) ~= nonce then return { 'foreign_block' } end
if call('HGET', KEYS.jobIndex, ARGV.newField) then
  local made = call('HGET', KEYS.records, id)
  return { 'again', made and Record.due(made) or pad13(now), 0 }
end
local body = call('HGET', KEYS.deadLetterRecords, root)
local live = call('HMGET', KEYS.meta, QUEUE.active, QUEUE.maxParallel, QUEUE.settingsHash, QUEUE.timeoutSeconds,
  QUEUE.name, QUEUE.teamNumber)
local hash = live[3]
if not body or not Record.is_sound(body) or not hash then return { 'not_dead' } end

local has_payload = tonumber(string.sub(body, 16, 16)) % 2
local request = string.sub(body, (string.find(body, '\n', 31, true)))
local timeout = ARGV.timeoutSeconds ~= '' and ARGV.timeoutSeconds or string.match(live[4], '^%d%d?%d?$')
  or Record.timeout_ms(body) / 1000
local payload = has_payload == 1 and call('HGET', KEYS.payloads, ARGV.oldSeq)

if payload then
  call('HSET', KEYS.payloads, ARGV.newSeq, payload)
  call('HDEL', KEYS.payloads, ARGV.oldSeq)
end
call('HINCRBY', KEYS.settingsUses, hash, 1)
local made = pad13(now) .. '10' .. has_payload .. string.format('%03d', timeout) .. hash .. '|' .. request
call('HSET', KEYS.records, id, made)
local woken = 0
use_ring(KEYS.ring, KEYS.teams)
if call('RPUSH', KEYS.ready, id) == 1 then woken = wake(queue_id, live[6], live, KEYS.ready, KEYS.inFlight) end
-- From here on a resend finds the new job made.
call('HSET', KEYS.jobIndex, INDEX.owner, nonce, ARGV.newField, queue_id)
call('HSET', KEYS.summaries, root, ARGV.summary)
if call('LPUSH', KEYS.history, root) == 1 then
  call('ZADD', KEYS.retentionDue, 'LT', now + tonumber(ARGV.retainMs), queue_id)
end
local team = Usage.team_of(live[5])
Usage.note(team, #made + #ARGV.summary - #body, 1, 0)
Usage.write(KEYS.teamUsage)
-- The caller has checked the quotas; the step only counts the job.
Quota.bound(now, ARGV.month, ARGV.monthEndsMs)
Quota.admit_run(KEYS.teamUsage, Quota.add_team(team), #made)
Quota.write(KEYS.teamUsage)
call('HDEL', KEYS.deadLetterRecords, root)
call('ZREM', KEYS.deadLetters, root)
AuditLog.write(KEYS.auditLog, ARGV.auditEntry, ARGV.auditMax, ARGV.auditMs)
return { 'ok', pad13(now), woken }
