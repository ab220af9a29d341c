-- Shared by the steps that raise alerts. Declares `Alerts`. src/redis/ledger/alerts/alert-teams.ts describes the row of a team
-- that `raise` wants; it declares the keys of the team's alerts.
--
-- A record (value in `alertRecords`) is text:
--   unread|count|last|before|first|type|reason|kind|resource|suppressed by|job|facts
-- unread: 1, or 0 once it was read · count: alerts in this record · last, first: when raised, 13 digits of Unix ms · before:
-- the total of its fingerprint before it · kind: queue, cron or team · resource: its id, or '' · suppressed by: a window,
-- or '' · job: its id, or '' · facts: JSON array of the resource's name and what the message is made of.
--
-- A fingerprint is 'type|reason|kind|resource'. Its value in `alertTotals` is text of four parts:
--   born|total|open|last
-- born: id of its first record, so that one made anew is told apart · total: alerts that no window suppressed, which only
-- rises · open: id of its newest record · last: when one was raised. Above the bound of fingerprints, those that are new
-- share 'type|other'.

local Alerts = { teams = {}, raised = {} }

-- Notes one alert; `store` writes all together, so that many equal ones cost as much as one.
-- alert: type, reason, kind, resource, suppressed ('' = sent), job, facts, and a count where it stands for several.
function Alerts.raise(team, alert)
  if not team.noted then
    team.noted, team.by_identity = {}, {}
    Alerts.teams[#Alerts.teams + 1] = team
  end
  alert.fingerprint = alert.type .. '|' .. alert.reason .. '|' .. alert.kind .. '|' .. alert.resource
  alert.identity = alert.fingerprint .. '|' .. alert.suppressed .. '|'
  local same, count = team.by_identity[alert.identity], alert.count or 1
  if same then
    same.count = same.count + count
  else
    alert.count = count
    team.by_identity[alert.identity] = alert
    team.noted[#team.noted + 1] = alert
  end
  local what = alert.type .. ' ' .. alert.kind
  Alerts.raised[what] = (Alerts.raised[what] or 0) + count
end

local function total_of(team, fingerprint)
  local known = team.totals[fingerprint]
  if known then return known end
  local born, total, open, last = string.match(call('HGET', team.alertTotals, fingerprint) or '',
    '^(%d+)|(%d+)|(%d+)|(%d+)$')
  if not born then return nil end
  known = { fingerprint = fingerprint, born = born, total = tonumber(total), open = open, last = last }
  team.totals[fingerprint] = known
  return known
end

-- A new total has no `born`.
local function total_for(team, alert)
  local known = total_of(team, alert.fingerprint)
  if known then return known end
  local fingerprint = alert.fingerprint
  if call('HLEN', team.alertTotals) >= tonumber(team.fingerprintsMax) then
    fingerprint = alert.type .. '|other'
    known = total_of(team, fingerprint)
    if known then return known end
  end
  known = { fingerprint = fingerprint, total = 0 }
  team.totals[fingerprint] = known
  return known
end

-- Counts the alerts in the open record of their total. Answers false when that is older, read, or of another identity.
local function coalesce(team, total, alert, now)
  local text = total.open and call('HGET', team.alertRecords, total.open)
  if not text then return false end
  local count, before, rest = string.match(text, '^1|(%d+)|%d+|(%d+)|(.*)$')
  local first = tonumber(rest and string.sub(rest, 1, 13) or '')
  if not first or first > now or now - first >= tonumber(team.coalesceMs) then return false end
  if string.sub(rest, 15, 14 + #alert.identity) ~= alert.identity then return false end
  local head = '1|' .. string.format('%.0f', tonumber(count) + alert.count) .. '|' .. pad13(now) .. '|' .. before .. '|'
  call('HSET', team.alertRecords, total.open, head .. rest)
  return true
end

local function add_record(team, total, alert, now)
  local counts = team.alertCounts
  local last = tonumber(call('HGET', counts, ALERT_COUNTS.last) or '0')
  local number = math.max(last + 1, now)
  local id = string.format('%.0f', number * 64 + tonumber(team.shard))
  local at = pad13(now)
  local record = '1|' .. string.format('%.0f', alert.count) .. '|' .. at .. '|' .. string.format('%.0f', total.total)
    .. '|' .. at .. '|' .. alert.identity .. alert.job .. '|' .. alert.facts
  call('HSET', counts, ALERT_COUNTS.last, string.format('%.0f', number))
  call('HINCRBY', counts, ALERT_COUNTS.unread .. alert.type, 1)
  call('HSET', team.alertRecords, id, record)
  call('ZADD', team.alertOrder, id, id)
  call('ZADD', team.retentionDue, 'NX', now + tonumber(team.retentionMs), 'a' .. team.team)
  total.open = id
  total.born = total.born or id
end

-- Removes records: the ids, oldest first. A record that was not read counts no more.
function Alerts.drop(team, ids)
  local unread = {}
  for i, text in ipairs(call('HMGET', team.alertRecords, unpack(ids))) do
    local type = string.match(text or '', '^1|%d+|%d+|%d+|%d+|([^|]+)|')
    if type then unread[type] = (unread[type] or 0) + 1 end
  end
  call('ZREM', team.alertOrder, unpack(ids))
  call('HDEL', team.alertRecords, unpack(ids))
  for type, count in pairs(unread) do call('HINCRBY', team.alertCounts, ALERT_COUNTS.unread .. type, -count) end
end

-- Writes what was noted of one team.
function Alerts.write_team(team, now)
  team.totals = {}
  local is_due, at = false, pad13(now)
  for _, alert in ipairs(team.noted) do
    local total = total_for(team, alert)
    if not coalesce(team, total, alert, now) then add_record(team, total, alert, now) end
    if alert.suppressed == '' then
      total.total = total.total + alert.count
      is_due = true
    end
    local value = total.born .. '|' .. string.format('%.0f', total.total) .. '|' .. total.open .. '|' .. at
    call('HSET', team.alertTotals, total.fingerprint, value)
    if alert.type == 'failure' and alert.kind == 'queue' then call('ZADD', team.failingQueues, now, alert.resource) end
  end
  local surplus = call('ZCARD', team.alertOrder) - tonumber(team.recordsMax)
  if surplus > 0 then Alerts.drop(team, call('ZRANGE', team.alertOrder, 0, surplus - 1)) end
  call('HINCRBY', team.alertCounts, ALERT_COUNTS.version, 1)
  if is_due then call('ZADD', team.notices, 'NX', now, team.team) end
end

-- What was noted, in words: 'type kind count' one after another; '' = nothing.
function Alerts.told()
  local answer = {}
  for what, count in pairs(Alerts.raised) do answer[#answer + 1] = what .. ' ' .. string.format('%.0f', count) end
  return table.concat(answer, ' ')
end

-- Writes what was noted, and answers it in words. Nothing takes no command.
function Alerts.store(now)
  for _, team in ipairs(Alerts.teams) do Alerts.write_team(team, now) end
  return Alerts.told()
end
