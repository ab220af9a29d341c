#!lua flags=allow-oom
-- tend_issues: resolves and removes issues of a team that are still as the caller has read them, and sets when the team is
-- next looked at; one of which nothing is left is forgotten itself.
-- Answer: how many were resolved or removed.
-- Transition: open, acknowledged → resolved; any issue → (none).
local call = redis.call

local resolved = ROWS.resolved
local removed = ROWS.removed
local changed = 0
for _, issue in ipairs(resolved) do
  local rest = string.match(issue.text, '^%a|%d*(|.*)$')
  if rest and call('HGET', KEYS.issues, issue.field) == issue.text then
    call('HSET', KEYS.issues, issue.field, 'r|' .. rest)
    changed = changed + 1
  end
end
for _, issue in ipairs(removed) do
  if call('HGET', KEYS.issues, issue.field) == issue.text then
    call('HDEL', KEYS.issues, issue.field)
    changed = changed + 1
  end
end
if call('HLEN', KEYS.issues) == 0 then
  call('ZREM', KEYS.issuesDue, ARGV.team)
else
  call('ZADD', KEYS.issuesDue, ARGV.dueMs, ARGV.team)
end
return changed
