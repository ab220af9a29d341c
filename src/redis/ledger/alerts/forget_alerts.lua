#!lua flags=allow-oom
-- forget_alerts: removes a page of a team's alerts that are past their retention, and fingerprints that were not raised
-- since. Sets when the team is next looked at; one of which nothing is left is forgotten itself.
-- Answer: 1 when more is due, else 0.
-- Transition: any alert → (none).
--#include base/lib/clock
--#include ledger/alerts/alerts

local team_rows = ROWS.alertTeams
local team = team_rows[1]
local now = shard_now(KEYS.clock, KEYS.executors, tonumber(ARGV.leaseMs))
local retention, page = tonumber(team.retentionMs), tonumber(ARGV.page)
local member = 'a' .. team.team

-- An id begins with the time at which it was raised.
local cut = string.format('%.0f', (now - retention) * 64)
local ids = call('ZRANGE', team.alertOrder, '-inf', cut, 'BYSCORE', 'LIMIT', 0, page)
if #ids > 0 then Alerts.drop(team, ids) end
if #ids == page then return 1 end

local unused, next_due = {}, nil
local totals = call('HGETALL', team.alertTotals)
for i = 1, #totals, 2 do
  local last = tonumber(string.match(totals[i + 1], '|(%d+)$') or '0')
  if last <= now - retention then
    unused[#unused + 1] = totals[i]
  elseif not next_due or last + retention < next_due then
    next_due = last + retention
  end
end
if #unused > 0 then call('HDEL', team.alertTotals, unpack(unused)) end
local oldest = call('ZRANGE', team.alertOrder, 0, 0)
local oldest_due = oldest[1] and math.floor(tonumber(oldest[1]) / 64) + retention
if oldest_due and (not next_due or oldest_due < next_due) then next_due = oldest_due end
if next_due then
  call('ZADD', team.retentionDue, math.max(next_due, now + tonumber(ARGV.pauseMs)), member)
else
  call('UNLINK', team.alertCounts)
  call('ZREM', team.notices, team.team)
  call('ZREM', team.retentionDue, member)
end
return 0
