-- Shared by finish and reap: the log of ended jobs, which statistics are made of. Declares `EndLog`. Wants
-- `Usage` and what execute/finish/settle.lua declares.
-- layout/statistics/statistics-log.ts says how an entry is written; ARGV.longest has its words about the longest durations.

local EndLog = {}

-- Executors empty the log all the time. When none does, jobs beyond this many entries are counted and left out.
local ENTRIES_MAX = 20000
local LOGGED = {}
for _, kind in ipairs({ END.success, END.failed_no_retries, END.retry, END.dead_letter, END.quarantined }) do LOGGED[kind] = true end

-- Notes the jobs from position `first` to `last`. ARGV.ends has three characters for each, as the log holds them for the end
-- that the sender expects. A single job is noted with `kind`, which only the step may know.
function EndLog.add(queue, kind, first, last)
  if is_of_callbacks(queue) or not LOGGED[kind] then return end
  local log = queue.end_log
  if not log then
    log = { jobs = 0 }
    queue.end_log = log
  end
  log.jobs = log.jobs + last - first + 1
  local ends = string.sub(ARGV.ends, first * 3 - 2, last * 3)
  log[#log + 1] = first == last and kind .. string.sub(ends, 2) or ends
end

function EndLog.push(queues, now)
  local words, jobs, last_team = { string.format('%.0f', math.floor(now / 60000)) }, 0, nil
  for _, queue in ipairs(queues) do
    local log, live = queue.end_log, queue.live
    local team = log and Usage.team_of(live[NAME])
    if team then
      if team ~= last_team then words[#words + 1] = '/' .. team end
      last_team, jobs = team, jobs + log.jobs
      words[#words + 1] = (live[CRON] and '' or queue.localId) .. ':' .. table.concat(log)
    end
  end
  if ARGV.longest ~= '' then words[#words + 1] = ARGV.longest end
  if jobs == 0 or call('RPUSH', KEYS.statisticsLog, table.concat(words, ' ')) <= ENTRIES_MAX then return end
  call('RPOP', KEYS.statisticsLog)
  call('HINCRBY', KEYS.statistics, STATISTICS.lostJobs, jobs)
end
