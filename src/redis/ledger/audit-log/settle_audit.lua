#!lua flags=allow-oom
-- settle_audit: makes an entry of a change that was asked for, with its outcome; '' as the entry = it changed nothing. One
-- that is not asked for any more has an entry already.
-- Answer: 1 when it was asked for, else 0.
-- Transition: asked → done, refused or unknown.
--#include ledger/audit-log/audit_log

local text = redis.call('HGET', KEYS.auditAsked, ARGV.ticket)
if not text then return 0 end
if ARGV.auditEntry ~= '' then
  local at = string.sub(text, 1, 13)
  local entry = at .. ARGV.auditEntry
  AuditLog.add(KEYS.auditLog, KEYS.auditCounts, entry, ARGV.auditMax, ARGV.auditMs, ARGV.outcome)
end
redis.call('HDEL', KEYS.auditAsked, ARGV.ticket)
return 1
