-- Shared by finish and reap: which attempts of a batch have failed, for issues. Declares `Failures`. Wants `Issues`.
--
-- ARGV.failures: for each attempt that failed 'position team hash reason status host', and a line break · position: of the
--       job · team: position among the issue teams · hash: of reason, status and host, by which issues are grouped

local Failures = { by_position = {} }

local issue_teams = ROWS.issueTeams

function Failures.read_all()
  for position, team, hash, reason, status, host in
    string.gmatch(ARGV.failures, '(%d+) (%d+) (%S+) (%S+) (%d*) (%S*)\n')
  do
    Failures.by_position[tonumber(position)] = {
      team = issue_teams[tonumber(team)], hash = hash, reason = reason, status = status, host = host,
    }
  end
end

-- Counts an attempt at its issue. A job that the step found damaged, or gives back, has failed in no way that is known.
function Failures.count(queue, job)
  local failure, kind = Failures.by_position[job.position], job.kind
  if not failure or kind == END.released or (job.is_quarantined and kind ~= END.quarantined) then return end
  Issues.note_failed(queue, failure, job.id, kind == END.dead_letter or kind == END.quarantined)
end
