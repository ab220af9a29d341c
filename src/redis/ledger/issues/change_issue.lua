#!lua flags=allow-oom
-- change_issue: sets the state of an issue, as somebody asks. One that has this state already stays as it is.
-- Answer: 1, or 0 when there is no such issue.
-- Transition: any state → open, acknowledged, muted or resolved.
local call = redis.call
--#include ledger/audit-log/audit_log

local text = call('HGET', KEYS.issues, ARGV.field)
local head, rest = string.match(text or '', '^(%a|%d*)(|.*)$')
if not head then return 0 end
local wanted = ARGV.state .. '|' .. ARGV.mutedUntil
if head == wanted then return 1 end
call('HSET', KEYS.issues, ARGV.field, wanted .. rest)
-- Whether it is resolved, or was resolved too early, is looked at soon.
call('ZADD', KEYS.issuesDue, 'LT', ARGV.dueMs, ARGV.team)
AuditLog.add(KEYS.auditLog, KEYS.auditCounts, ARGV.auditEntry, ARGV.auditMax, ARGV.auditMs)
return 1
