-- Shared by the steps that act on a page of jobs. Declares `Page`. A page is of a part of a bulk (a row of `parts`) or one
-- job that somebody asked for (a row of `audits`).
--
-- The items of a bulk's page and the place after it change in one step, so a page is done once whoever sends it, and
-- however often: the next version of the part answers a resend. The act on a job answers a resend of a page of one.

local parts = ROWS.parts
local audits = ROWS.audits
local misfits = ROWS.misfits

local part, audit = parts[1], audits[1]
local Page = { done = 0, skipped = 0, failed = 0, failed_jobs = {}, jobs = {}, made_jobs = {} }

-- Answers of an act that found the job as it was to be: true = this step did it, false = the same one did, sent before.
local DONE = { cancelled = true, fired = true, made = true, fired_before = false, made_before = false }

-- answer: what became of the job. `changed` = the job is no longer as the filter found it, which is no failure of a bulk
-- that was given one. detail: what a page of one answers beside it.
function Page.count(id, answer, changed, detail)
  Page.answer, Page.detail = answer, detail
  if DONE[answer] ~= nil then
    Page.done = Page.done + 1
    Page.is_news = DONE[answer]
  elseif part and changed and part.isNamed ~= '1' then
    Page.skipped = Page.skipped + 1
  else
    Page.failed = Page.failed + 1
    table.insert(Page.failed_jobs, id .. ' ' .. answer)
  end
end

-- Notes a job that the page made, or that it fired: the bulk lists it. What becomes of one that it made is counted.
function Page.note_job(id, is_made)
  if not part then return end
  table.insert(Page.jobs, id)
  if is_made then table.insert(Page.made_jobs, id) end
end

local function refusal_by_part()
  local known = call('HMGET', part.part, BULK_PART.version, BULK_PART.nonce, BULK_PART.answer, BULK_PART.state)
  if known[2] == part.nonce and known[3] then return known[3] end
  if known[4] ~= 'running' then
    call('ZREM', part.bulksDue, part.member)
    return known[1] and 'stale' or 'gone'
  end
  if known[1] ~= part.version then return 'stale' end
end

-- What to answer instead of working the page off: 'stale' when another page was sent since the part was read, 'gone'
-- when there is no such part, or what the same page answered before. nil = go on.
function Page.refusal()
  local refused = part and refusal_by_part()
  if refused then return refused end
  -- These jobs were known before to be ones that nothing can be done to.
  for _, misfit in ipairs(misfits) do Page.count(misfit.jobId, misfit.reason, misfit.isChange == '1') end
end

local function list_jobs(now)
  local room = math.min(#Page.jobs, tonumber(part.jobsMax) - call('LLEN', part.bulkJobs))
  if room > 0 then
    call('RPUSH', part.bulkJobs, unpack(Page.jobs, 1, room))
    call('EXPIRE', part.bulkJobs, part.keepSeconds)
  end
  if #Page.made_jobs == 0 then return end
  call('RPUSH', part.bulkWaiting, unpack(Page.made_jobs))
  call('EXPIRE', part.bulkWaiting, part.keepSeconds)
  call('HINCRBY', part.part, BULK_PART.made, #Page.made_jobs)
  call('ZADD', part.bulksDue, 'NX', string.format('%.0f', now), part.outcomeMember)
end

local function move_on(woken)
  local time = call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local answer = table.concat({ 'ok', Page.done, Page.skipped, Page.failed, woken }, ' ')
  local known = call('LLEN', part.failures)
  local room = math.min(#Page.failed_jobs, tonumber(part.failuresMax) - known)
  if room > 0 then
    call('RPUSH', part.failures, unpack(Page.failed_jobs, 1, room))
    call('EXPIRE', part.failures, part.keepSeconds)
  end
  if part.state == 'running' then
    local rest = part.restMs + (Page.done + Page.failed) * part.perJobMs
    call('ZADD', part.bulksDue, string.format('%.0f', now + rest), part.member)
  else
    call('ZREM', part.bulksDue, part.member)
  end
  if #Page.jobs > 0 then list_jobs(now) end
  if Page.done > 0 then call('HINCRBY', part.part, BULK_PART.done, Page.done) end
  if Page.skipped > 0 then call('HINCRBY', part.part, BULK_PART.skipped, Page.skipped) end
  if Page.failed > 0 then call('HINCRBY', part.part, BULK_PART.failed, Page.failed) end
  call('HSET', part.part, BULK_PART.version, part.version + 1, BULK_PART.nonce, part.nonce, BULK_PART.answer, answer,
    BULK_PART.place, part.place, BULK_PART.state, part.state)
  call('EXPIRE', part.part, part.keepSeconds)
  return answer
end

-- Must be called last. Answers what the step answers: 'ok done skipped failed woken', or 'answer woken detail' of one
-- job.
function Page.close(woken)
  if part then return move_on(woken) end
  if Page.is_news then
    AuditLog.add(audit.auditLog, audit.auditCounts, audit.auditEntry, audit.auditMax, audit.auditMs)
  end
  return table.concat({ Page.answer, woken, Page.detail }, ' ')
end
