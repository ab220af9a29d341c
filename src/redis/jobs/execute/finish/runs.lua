-- Shared by finish and reap: how the runs of crons end. Declares `Runs`. Wants `Alerts`, `Cron`, `guarded` and
-- `root_of`.

local Runs = {}

-- Notes that the chain of a run has ended as `kind`, with this job. Ends are noted in the order of their jobs.
function Runs.note_end(ended, run, kind, job)
  if kind ~= END.success and kind ~= END.failed_no_retries and kind ~= END.dead_letter and kind ~= END.quarantined then return end
  run.ended, run.root, run.job = kind, root_of(job), job
  table.insert(ended, run)
end

-- Answers the window that mutes a cron's alerts, or ''. team.cronMutes: '' none · '*window' one for all ·
-- '|name=window|…'
local function mute_of(team, name)
  local mutes = team.cronMutes
  if mutes == '' then return '' end
  if string.sub(mutes, 1, 1) == '*' then return string.sub(mutes, 2) end
  local _, at = string.find(mutes, '|' .. name .. '=', 1, true)
  return at and string.match(string.sub(mutes, at + 1), '^[^|]*') or ''
end

-- What the end of a run raises, and why; nil = nothing. Comparing what was raised, not the number of failures with the
-- threshold, stays right when the threshold is edited in between. A failure that was raised while a window muted it is
-- raised again after the window, or nobody would ever hear of that cron.
local function judge(said, succeeded, failures, muted)
  if succeeded then
    if said.raised == '' then return nil end
    local reason = said.reason
    said.raised, said.reason = '', ''
    return 'recovery', reason
  end
  if said.raised == 'f' or (said.raised == 'm' and muted ~= '') then return nil end
  if failures < said.threshold then return 'warning' end
  said.raised = muted == '' and 'f' or 'm'
  return 'failure'
end

-- A success after a success raises nothing and asks nothing.
local function raise_end(cron, run, succeeded, before)
  if succeeded and before == 0 then return end
  cron.said = cron.said or Cron.said(call('HGET', KEYS.cronAlerts, run.cronId))
  local said = cron.said
  if not said then return end
  local team = run.team
  local muted = mute_of(team, said.name)
  local raised = said.raised
  local type, reason = judge(said, succeeded, cron.failures, muted)
  if not type then return end
  if type == 'failure' then said.reason = run.reason end
  cron.is_said_new = cron.is_said_new or said.raised ~= raised
  local facts = ',' .. string.format('%.0f', succeeded and before or cron.failures) .. ','
    .. string.format('%.0f', said.threshold) .. ',' .. run.host .. ']'
  Alerts.raise(team, {
    type = type, reason = reason or run.reason, kind = 'cron', resource = run.cronId, suppressed = muted, job = run.job,
    facts = string.sub(said.title, 1, -2) .. facts,
  })
end

local function end_run(crons, run, text)
  local cron = crons[run.cronId] or Cron.parse(text)
  if not cron then return end
  crons[run.cronId] = cron
  if cron.running == run.root then cron.running = '' end
  local position = call('LPOS', run.cronRecords, run.record)
  if not position then return end
  local by_hand = string.sub(run.record, 1, 1) == 'R'
  local succeeded = run.ended == END.success
  local letter = succeeded and 's' or 'f'
  local record = (by_hand and string.upper(letter) or letter) .. string.sub(run.record, 2)
  call('LSET', run.cronRecords, position, succeeded and record or record .. '|' .. run.reason)
  local before = cron.failures
  cron.failures = succeeded and 0 or before + 1
  if succeeded and (tonumber(cron.success) or 0) < tonumber(run.tick) then cron.success = run.tick end
  raise_end(cron, run, succeeded, before)
end

local function read_states(states, ids) return call('HMGET', states, unpack(ids)) end

local function write_crons(states, crons)
  local changed = {}
  for id, cron in pairs(crons) do
    table.insert(changed, id)
    table.insert(changed, Cron.format(cron))
    if cron.is_said_new then call('HSET', KEYS.cronAlerts, id, Cron.say(cron.said)) end
  end
  if #changed > 0 then call('HSET', states, unpack(changed)) end
end

-- Writes the ends of runs, in their order, into their records and their crons. An end counts once, by its record; that
-- of a replay has none, and that of a deleted cron neither.
function Runs.end_runs(states, ended)
  if #ended == 0 then return end
  local ids = {}
  for i, run in ipairs(ended) do ids[i] = run.cronId end
  local ok, found = guarded('crons', read_states, states, ids)
  if not ok then return end
  local crons = {}
  for i, run in ipairs(ended) do
    if found[i] then guarded(run.cronId, end_run, crons, run, found[i]) end
  end
  guarded('crons', write_crons, states, crons)
end
