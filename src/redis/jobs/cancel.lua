#!lua flags=allow-oom
-- cancel: removes a pending job for good, also one whose record is damaged. The id of a ready job stays in the ready list
-- and is counted as cancelled: removing it there would take as long as the list.
-- Answer 'cancelled' · 'in_flight' · 'not_pending'.
-- Transition: pending → (none).
local call = redis.call
--#include retention/forget
--#include lib/usage
--#include lib/record
--#include retention/release_settings
--#include lib/suspects
--#include lib/bands
--#include lib/ring
--#include audit-log/audit_log

local queue_id, id = ARGV.localId, ARGV.jobId
local body = call('HGET', KEYS.records, id)
if not body then return 'not_pending' end
local slot = call('ZSCORE', KEYS.inFlight, id)
local is_suspect = is_waiting(slot)
if slot and not is_suspect then return 'in_flight' end

local is_sound = Record.is_sound(body)
local flags = is_sound and tonumber(string.sub(body, 16, 16)) or 0
local member = queue_id .. '|' .. id
local function is_listed() return call('LPOS', KEYS.ready, id) end
-- A record that was in a minute bucket may be ready by now. While its minute is listed, only the ready list tells.
local function is_in_bucket()
  if not is_sound then return not is_listed() end
  if flags < 2 then return false end
  local minute = string.format('%.0f', math.floor(tonumber(string.sub(body, 1, 13)) / 60000))
  return call('ZSCORE', KEYS.minutes, minute) and not is_listed()
end
local location = 'ready'
if is_suspect then
  location = 'suspects'
elseif call('ZSCORE', KEYS.nearSet, member) then
  location = 'near set'
elseif is_in_bucket() then
  location = 'bucket'
end

release_settings_of(body)
local bytes = #body
if flags % 2 == 1 or not is_sound then
  bytes = bytes + call('HSTRLEN', KEYS.payloads, ARGV.seq)
  call('HDEL', KEYS.payloads, ARGV.seq)
end
forget(KEYS.jobIndex, ARGV.indexField, queue_id)
if location == 'near set' then call('ZREM', KEYS.nearSet, member) end
if location == 'ready' then call('HINCRBY', KEYS.meta, QUEUE.cancelledReady, 1) end
call('HDEL', KEYS.records, id)
local live = call('HMGET', KEYS.meta, QUEUE.active, QUEUE.maxParallel, QUEUE.name, QUEUE.teamNumber)
if is_suspect then
  call('ZREM', KEYS.inFlight, id)
  call('ZREM', KEYS.suspects, member)
  use_ring(KEYS.ring, KEYS.teams)
  wake(queue_id, live[4], live, KEYS.ready, KEYS.inFlight)
end
Usage.note(Usage.team_of(live[3]), -bytes, -1, is_suspect and -1 or 0)
Usage.write(KEYS.teamUsage)
AuditLog.write(KEYS.auditLog, ARGV.auditEntry, ARGV.auditMax, ARGV.auditMs)
return 'cancelled'
