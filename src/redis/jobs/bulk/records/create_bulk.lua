#!lua
-- create_bulk: notes a bulk that somebody asked for, in the home shard of its team, due at once. A team with as many bulks
-- as are kept forgets the oldest that has ended.
-- nonce: part of the record, by which a resend knows it however it has changed.
-- Answer 'made', also to a resend · 'taken' the id is another bulk's · 'too_many' are running.
-- Transition: (none) → starting.
local call = redis.call
--#include ledger/audit-log/audit_log

local known = call('HGET', KEYS.bulks, ARGV.id)
if known then return string.find(known, ARGV.nonce, 1, true) and 'made' or 'taken' end
local ended, running = {}, 0
local flat = call('HGETALL', KEYS.bulks)
local known_count = #flat / 2
for i = 1, #flat, 2 do
  local state = string.match(flat[i + 1], '^%d+ (%a+) ')
  if state == 'done' or state == 'aborted' then
    ended[tonumber(flat[i])] = true
  else
    running = running + 1
  end
end
if running >= tonumber(ARGV.runningMax) then return 'too_many' end

local function forget_oldest()
  local oldest
  for id in pairs(ended) do oldest = math.min(oldest or id, id) end
  if not oldest then return end
  call('HDEL', KEYS.bulks, string.format('%.0f', oldest))
  ended[oldest] = nil
end
for _ = 1, known_count + 1 - tonumber(ARGV.keptMax) do forget_oldest() end
-- This comes before the record, by which a resend knows that all was done.
call('ZADD', KEYS.bulksDue, ARGV.dueMs, ARGV.member)
AuditLog.add(KEYS.auditLog, KEYS.auditCounts, ARGV.auditEntry, ARGV.auditMax, ARGV.auditMs)
call('HSET', KEYS.bulks, ARGV.id, ARGV.record)
call('EXPIRE', KEYS.bulks, ARGV.keepSeconds)
return 'made'
