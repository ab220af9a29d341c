-- Shared by the steps that take jobs in. Declares `Quota`.
--
-- A ceiling is absolute: the value that a counter of `teamUsage` may reach in this shard. The caller computes it from the
-- usage in all shards. Several callers that read the same usage therefore do not add up. The field `<team>:m` is
-- 'month jobs': the number of jobs in a month.

local Quota = { teams = {}, all_max = nil, month = nil }

-- Month, when the next one starts (ms), ceiling of the bytes of all teams or ''.
function Quota.bound(now, month, next_starts, all_max)
  Quota.month = string.format('%.0f', now < tonumber(next_starts) and tonumber(month) or tonumber(month) + 1)
  Quota.all_max = tonumber(all_max)
end

-- row: `team`, the ceilings of its pending jobs, of its bytes and of its jobs this month, `jobsMax`, `bytesMax` and
-- `monthMax` ('' or nil = none), `isShare` (1 = the ceiling of bytes is a share of the free memory, not a quota).
function Quota.add_team(row)
  local team = {
    name = row.team, jobs_max = tonumber(row.jobsMax), bytes_max = tonumber(row.bytesMax),
    month_max = tonumber(row.monthMax), is_share = row.isShare == '1',
  }
  table.insert(Quota.teams, team)
  return team
end

local function open(tu, team)
  local name = team.name
  local held = call('HMGET', tu, name .. TEAM_USAGE.jobs, name .. TEAM_USAGE.bytes, name .. TEAM_USAGE.month,
    '*' .. TEAM_USAGE.bytes)
  team.jobs, team.bytes = tonumber(held[1] or '0'), tonumber(held[2] or '0')
  local month, jobs = string.match(held[3] or '', '^(%d+) (%d+)$')
  team.before = month == Quota.month and tonumber(jobs) or 0
  team.month_jobs = team.before
  Quota.all = Quota.all or tonumber(held[4] or '0')
end

-- Counts a job of `size` bytes, or answers the name of the bound that it would exceed.
function Quota.admit(tu, team, size)
  if not team.jobs then open(tu, team) end
  if team.jobs_max and team.jobs + 1 > team.jobs_max then return 'pendingJobs' end
  local is_over = team.bytes_max and team.bytes + size > team.bytes_max
  if is_over and not team.is_share then return 'storedBytes' end
  if team.month_max and team.month_jobs + 1 > team.month_max then return 'jobsPerMonth' end
  -- When no memory is left for anyone, the team's share is not the reason.
  if Quota.all_max and Quota.all + size > Quota.all_max then return 'room' end
  if is_over then return 'share' end
  team.jobs, team.bytes, team.month_jobs = team.jobs + 1, team.bytes + size, team.month_jobs + 1
  Quota.all = Quota.all + size
end

-- Counts `count` jobs of `size` bytes together, if none of them would exceed a bound. Answers whether they were counted.
function Quota.admit_all(tu, team, count, size)
  if not team.jobs then open(tu, team) end
  if team.jobs_max and team.jobs + count > team.jobs_max then return false end
  if team.bytes_max and team.bytes + size > team.bytes_max then return false end
  if team.month_max and team.month_jobs + count > team.month_max then return false end
  if Quota.all_max and Quota.all + size > Quota.all_max then return false end
  team.jobs, team.bytes, team.month_jobs = team.jobs + count, team.bytes + size, team.month_jobs + count
  Quota.all = Quota.all + size
  return true
end

-- Counts a run of a cron. No quota stops it, only the team's share of the free memory (nil = no bound). Answers whether it
-- was admitted.
function Quota.admit_run(tu, team, size, share)
  if not team.jobs then open(tu, team) end
  if share and team.bytes + size > share then return false end
  team.bytes, team.month_jobs = team.bytes + size, team.month_jobs + 1
  return true
end

function Quota.write(tu)
  for _, team in ipairs(Quota.teams) do
    if team.month_jobs and team.month_jobs > team.before then
      call('HSET', tu, team.name .. TEAM_USAGE.month, Quota.month .. ' ' .. string.format('%.0f', team.month_jobs))
    end
  end
end
