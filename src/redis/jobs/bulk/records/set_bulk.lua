#!lua flags=allow-oom
-- set_bulk: changes the record of a bulk if nobody has since it was read, and when to look at it next; an unchanged record is
-- only looked at later. An empty record goes. Allowed when Redis is full: a bulk must be able to end.
-- runningMax: of a bulk that is resumed, how many of its team may run with it; '' = it runs already, or has ended.
-- Answer 1 when it is written, also to a resend; 0 when somebody was faster; 'too_many' are running.
-- Transition: starting → running → done, and each of them but the last → aborting → aborted → starting.
local call = redis.call
--#include ledger/audit-log/audit_log

local known = call('HGET', KEYS.bulks, ARGV.id) or ''
local is_written = known == ARGV.record
if not is_written and string.match(known, '^%d*') ~= ARGV.version then return 0 end

local function running_count()
  local count = 0
  for _, record in ipairs(call('HVALS', KEYS.bulks)) do
    local state = string.match(record, '^%d+ (%a+) ')
    if state ~= 'done' and state ~= 'aborted' then count = count + 1 end
  end
  return count
end
if not is_written and ARGV.runningMax ~= '' and running_count() >= tonumber(ARGV.runningMax) then return 'too_many' end
if ARGV.dueMs == '' then
  call('ZREM', KEYS.bulksDue, ARGV.member)
else
  call('ZADD', KEYS.bulksDue, ARGV.dueMs, ARGV.member)
end
if is_written then return 1 end
AuditLog.add(KEYS.auditLog, KEYS.auditCounts, ARGV.auditEntry, ARGV.auditMax, ARGV.auditMs)
if ARGV.record == '' then
  call('HDEL', KEYS.bulks, ARGV.id)
  return 1
end
call('HSET', KEYS.bulks, ARGV.id, ARGV.record)
call('EXPIRE', KEYS.bulks, ARGV.keepSeconds)
return 1
