-- Shared by finish and reap: the log of ended jobs, which statistics are made of. Declares `EndLog`.
-- layout/statistics-log.ts says how an entry is written.

local EndLog = {}

-- Entries of the log. Executors empty it all the time; when none does, jobs over this are counted and left out.
local ENTRIES_MAX = 20000
local LOGGED = {}
for _, kind in ipairs({ END.success, END.failed, END.retry, END.deadLetter, END.quarantined }) do LOGGED[kind] = true end

-- `buckets` holds two characters of each job of the batch, by its position.
function EndLog.add_end(queue, job)
  if queue.is_of_callbacks or not LOGGED[job.kind] then return end
  local kind, at = job.is_quarantined and END.quarantined or job.kind, job.position * 2
  queue.end_log[#queue.end_log + 1] = kind .. string.sub(ARGV.buckets, at - 1, at)
end

function EndLog.push(queues, now)
  local words, jobs, last_team = { string.format('%.0f', math.floor(now / 60000)) }, 0, nil
  for _, queue in ipairs(queues) do
    local team = #queue.end_log > 0 and Usage.team_of(queue.name)
    if team then
      if team ~= last_team then words[#words + 1] = '/' .. team end
      last_team, jobs = team, jobs + #queue.end_log
      words[#words + 1] = (queue.cron and '' or queue.localId) .. ':' .. table.concat(queue.end_log)
    end
  end
  if jobs == 0 or call('RPUSH', KEYS.statisticsLog, table.concat(words, ' ')) <= ENTRIES_MAX then return end
  call('RPOP', KEYS.statisticsLog)
  call('HINCRBY', KEYS.statistics, STATISTICS.lostJobs, jobs)
end
