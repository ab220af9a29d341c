#!lua flags=allow-oom
-- warn: raises and clears limit warnings. A change whose field is not as its sender read it is left out, as another has
-- made it; so is one of a queue that was deleted.
-- Answer: raised alerts, 'type kind count …'.
-- Transition: of a warning: (none) → stands (alert raised) → (none).
--#include base/lib/clock
--#include ledger/alerts/alerts

local now = shard_now(KEYS.clock, KEYS.executors, tonumber(ARGV.leaseMs))
local teams = ROWS.teams
local changes = ROWS.changes
local made = {}
for _, change in ipairs(changes) do
  local is_there = change.kind ~= 'queue' or call('EXISTS', change.meta) == 1
  if (call('HGET', KEYS.limitWarnings, change.field) or '') == change.seen and (is_there or change.next == '') then
    made[#made + 1] = change
    if change.isRaised == '1' then
      Alerts.raise(teams[tonumber(change.team)], {
        type = 'limit_warning', reason = change.reason, kind = change.kind, resource = change.resourceId,
        suppressed = change.suppressedBy, job = '', facts = change.facts,
      })
    end
  end
end
-- The alerts are written first, because a warning that stands is not raised again.
local raised = Alerts.store(now)
for _, change in ipairs(made) do
  if change.next == '' then
    call('HDEL', KEYS.limitWarnings, change.field)
  else
    call('HSET', KEYS.limitWarnings, change.field, change.next)
  end
end
return raised
