-- Shared by the steps that know crons. Declares `Cron`; `call` comes from the clock or the step itself.
--
-- A cron's state (value in ks:) is text of nine parts:
--   version|schedule|active|spread|bytes|tick|running|failures|success
-- version rises with every edit · schedule: hash of expression and zone, 6 characters · active: 1, 0 paused, r retired, as it moves ·
-- bytes of its definition · tick: the next one, '' = none · running: root id of the run that has not ended, or '' ·
-- failures in a row · success: the tick of the newest run that succeeded, or ''.

local Cron = {}

function Cron.parse(text)
  local version, schedule, active, spread, bytes, tick, running, failures, success =
    string.match(text, '^(%d+)|(......)|(%w)|(%d+)|(%d+)|(%d*)|(%d*)|(%d+)|(%d*)$')
  return {
    version = version, schedule = schedule, active = active, spread = tonumber(spread), bytes = bytes, tick = tick,
    running = running, failures = tonumber(failures), success = success,
  }
end

function Cron.format(cron)
  return cron.version .. '|' .. cron.schedule .. '|' .. cron.active .. '|' .. string.format('%.0f', cron.spread) .. '|'
    .. cron.bytes .. '|' .. cron.tick .. '|' .. cron.running .. '|' .. string.format('%.0f', cron.failures) .. '|'
    .. cron.success
end

-- When the cron is next looked at; nil when it never is.
function Cron.due(cron)
  if cron.active ~= '1' or cron.tick == '' then return nil end
  return tonumber(cron.tick) + cron.spread
end

-- Notes that a run's chain has ended with this job.
function Cron.note_end(run, job)
  if job.kind == 's' or job.kind == 'f' or job.kind == 'd' then run.ended, run.root = job.kind, job.root end
end

-- Writes the ends of runs into their records and their crons. An end counts once, by its record; that of a replay has
-- none, and that of a deleted cron neither.
function Cron.end_runs(states, runs)
  local ids, ended = {}, {}
  for _, run in pairs(runs) do
    if run.ended then
      table.insert(ended, run)
      table.insert(ids, run.cron)
    end
  end
  if #ended == 0 then return end
  local found, crons, changed = call('HMGET', states, unpack(ids)), {}, {}
  for i, run in ipairs(ended) do
    local cron = crons[run.cron] or (found[i] and Cron.parse(found[i]))
    if cron then
      crons[run.cron] = cron
      if cron.running == run.root then cron.running = '' end
      local place = call('LPOS', run.list, run.record)
      if place then
        local by_hand = string.sub(run.record, 1, 1) == 'R'
        local letter = run.ended == 's' and 's' or 'f'
        call('LSET', run.list, place, (by_hand and string.upper(letter) or letter) .. string.sub(run.record, 2))
        cron.failures = run.ended == 's' and 0 or cron.failures + 1
        if run.ended == 's' and (tonumber(cron.success) or 0) < tonumber(run.tick) then cron.success = run.tick end
      end
    end
  end
  for id, cron in pairs(crons) do
    table.insert(changed, id)
    table.insert(changed, Cron.format(cron))
  end
  if #changed > 0 then call('HSET', states, unpack(changed)) end
end
