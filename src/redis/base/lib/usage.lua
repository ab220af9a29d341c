-- Shared by the steps that change what a team holds. Declares `Usage`.
--
-- Fields of `teamUsage`: <team>:b bytes of records · <team>:j pending and running jobs · <team>:f jobs in flight ·
-- <team>:m 'month jobs', as lib/quota.lua writes it · <team>:h those of the bytes that are summaries of chains in blocks,
-- as history/sealed.lua writes it · *:b bytes of all teams · t<queue> the team whose deleted queue is in
-- the trash.

local Usage = { teams = {} }

-- The team of a queue's `team/name`; nil for a queue that was deleted.
function Usage.team_of(name)
  local slash = name and string.find(name, '/', 1, true)
  return slash and string.sub(name, 1, slash - 1)
end

-- Sums up what a step adds and removes; `write` writes the sums, so that a batch costs a team as much as one job.
function Usage.note(team, bytes, jobs, flights)
  if not team then return end
  local sums = Usage.teams[team]
  if not sums then
    sums = { bytes = 0, jobs = 0, flights = 0 }
    Usage.teams[team] = sums
  end
  sums.bytes, sums.jobs, sums.flights = sums.bytes + bytes, sums.jobs + jobs, sums.flights + flights
end

local function raise(tu, field, by)
  if by ~= 0 then call('HINCRBY', tu, field, string.format('%.0f', by)) end
end

function Usage.write(tu)
  local all = 0
  for team, sums in pairs(Usage.teams) do
    raise(tu, team .. TEAM_USAGE.bytes, sums.bytes)
    raise(tu, team .. TEAM_USAGE.jobs, sums.jobs)
    raise(tu, team .. TEAM_USAGE.inFlight, sums.flights)
    all = all + sums.bytes
  end
  raise(tu, '*' .. TEAM_USAGE.bytes, all)
end
