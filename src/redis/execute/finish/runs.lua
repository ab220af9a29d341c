-- Shared by finish and reap: how the runs of crons end. Declares `Runs`.

local Runs = {}

-- Notes that a run's chain has ended with this job, the next one after those of `ended`.
function Runs.note_end(ended, run, job)
  if job.kind ~= END.success and job.kind ~= END.failed and job.kind ~= END.deadLetter then return end
  run.ended, run.root = job.kind, job.root
  table.insert(ended, run)
end

-- Writes the ends of runs, in their order, into their records and their crons. An end counts once, by its record; that
-- of a replay has none, and that of a deleted cron neither.
function Runs.end_runs(states, ended)
  if #ended == 0 then return end
  local ids = {}
  for i, run in ipairs(ended) do ids[i] = run.cronId end
  local found, crons, changed = call('HMGET', states, unpack(ids)), {}, {}
  for i, run in ipairs(ended) do
    local cron = crons[run.cronId] or (found[i] and Cron.parse(found[i]))
    if cron then
      crons[run.cronId] = cron
      if cron.running == run.root then cron.running = '' end
      local position = call('LPOS', run.cronRecords, run.record)
      if position then
        local by_hand = string.sub(run.record, 1, 1) == 'R'
        local letter = run.ended == END.success and 's' or 'f'
        call('LSET', run.cronRecords, position, (by_hand and string.upper(letter) or letter) .. string.sub(run.record, 2))
        cron.failures = run.ended == END.success and 0 or cron.failures + 1
        if run.ended == END.success and (tonumber(cron.success) or 0) < tonumber(run.tick) then cron.success = run.tick end
      end
    end
  end
  for id, cron in pairs(crons) do
    table.insert(changed, id)
    table.insert(changed, Cron.format(cron))
  end
  if #changed > 0 then call('HSET', states, unpack(changed)) end
end
