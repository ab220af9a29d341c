#!lua flags=no-writes
-- read_live: says what teams hold in a shard and what of it has changed, for the pages of theirs that are open. Nothing in
-- here grows with what a team has: the queues of the ring and the entries of the audit log are cut off.
-- Answer {suspects that wait in the shard, for each team {pending, slots taken, what else of its usage moves, queues, crons,
--       {fields and values of its alert counts…}, {id, entry of each new one about settings in the audit log, newest first…},
--       {queues of the ring…}, a text that changes with every other entry, its tally of the minute that was counted last, or ''}…}
local call = redis.call

-- Answers the new entries. The newest entry alone says where the log ends.
local function new_entries(row)
  local found = row.seen == '' and call('XREVRANGE', row.auditLog, '+', '-', 'COUNT', 1)
    or call('XREVRANGE', row.auditLog, '+', '(' .. row.seen, 'COUNT', ARGV.entriesMax)
  local entries = {}
  for _, one in ipairs(found) do
    entries[#entries + 1] = one[1]
    entries[#entries + 1] = row.seen == '' and '' or one[2][2]
  end
  return entries
end

-- Answers the end of the log of deeds, and how often something was counted into an entry.
local function deeds(row)
  local newest = call('XREVRANGE', row.deedLog, '+', '-', 'COUNT', 1)[1]
  local counted = (call('HGET', row.auditCounts, 'n') or '') .. ' ' .. (call('HGET', row.deedCounts, 'n') or '')
  return (newest and newest[1] or '') .. ' ' .. counted
end

local teams = ROWS.teams
local answer = { call('ZCARD', KEYS.suspects) }
local sampled = call('HGET', KEYS.statistics, STATISTICS.sampledMinute) or ''
for _, row in ipairs(teams) do
  local team = row.team
  local usage = call('HMGET', KEYS.teamUsage, team .. TEAM_USAGE.jobs, team .. TEAM_USAGE.inFlight,
    team .. TEAM_USAGE.bytes, team .. TEAM_USAGE.month, team .. TEAM_USAGE.sealed)
  for at = 1, 5 do usage[at] = usage[at] or '' end
  answer[#answer + 1] = {
    usage[1], usage[2], table.concat(usage, ' '), call('ZCARD', row.teamQueues), call('ZCARD', row.teamCrons),
    call('HGETALL', row.alertCounts), new_entries(row),
    call('ZRANGE', KEYS.ring, row.from, row.to, 'BYSCORE', 'LIMIT', 0, ARGV.queuesMax), deeds(row),
    call('HGET', KEYS.openTallies, sampled .. '.' .. row.counted) or '',
  }
end
return answer
