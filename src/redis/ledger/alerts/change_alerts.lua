#!lua flags=allow-oom
-- change_alerts: marks alerts of a team as read, or removes them, and counts those that were unread no more. With
-- `change` = read the records stay. Ids without a record, and to be marked those that are read, are passed over.
-- Answer: alerts changed.
-- Transition: unread → read, or any → (none).
local call = redis.call
--#include ledger/audit-log/audit_log

local first = arg_at + 1
local is_removal = ARGV.change == 'remove'
local changed, unread, marked = 0, {}, {}
for i, text in ipairs(call('HMGET', KEYS.alertRecords, unpack(ARGV, first))) do
  local rest, type = string.match(text or '', '^1(|%d+|%d+|%d+|%d+|([^|]+)|.*)$')
  if type then
    unread[type] = (unread[type] or 0) + 1
    marked[#marked + 1] = ARGV[arg_at + i]
    marked[#marked + 1] = '0' .. rest
  end
  if type or (text and is_removal) then changed = changed + 1 end
end
if is_removal then
  call('ZREM', KEYS.alertOrder, unpack(ARGV, first))
  call('HDEL', KEYS.alertRecords, unpack(ARGV, first))
elseif #marked > 0 then
  call('HSET', KEYS.alertRecords, unpack(marked))
end
for type, count in pairs(unread) do call('HINCRBY', KEYS.alertCounts, ALERT_COUNTS.unread .. type, -count) end
if changed > 0 then AuditLog.add(KEYS.auditLog, KEYS.auditCounts, ARGV.auditEntry, ARGV.auditMax, ARGV.auditMs) end
return changed
