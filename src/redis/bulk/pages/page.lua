-- Shared by the steps that work off a page of a bulk. Declares `Page`. The items of a page and the place after it change in
-- one step, so a page is done once whoever sends it, and however often: the next version of the part answers a resend.
-- Wants the arguments of PAGE_ARGS, and the keys of PAGE_KEYS.

local Page = { done = 0, skipped = 0, failed = 0, failures = {} }

-- What to answer instead of working the page off: 'stale' when another page was sent since the part was read, 'gone'
-- when there is no such part, or what the same page answered before. nil = go on.
function Page.refusal()
  local part = call('HMGET', KEYS.part, BULK_PART.version, BULK_PART.nonce, BULK_PART.answer, BULK_PART.state)
  if part[2] == ARGV.nonce and part[3] then return part[3] end
  if part[4] ~= 'running' then
    call('ZREM', KEYS.bulksDue, ARGV.member)
    return part[1] and 'stale' or 'gone'
  end
  if part[1] ~= ARGV.version then return 'stale' end
end

-- reason: nil = the action was done. `changed` = the job is no longer as the filter found it, which is no failure of a bulk
-- that was given one.
function Page.count(id, reason, changed)
  if not reason then
    Page.done = Page.done + 1
  elseif changed and ARGV.isNamed ~= '1' then
    Page.skipped = Page.skipped + 1
  else
    Page.failed = Page.failed + 1
    table.insert(Page.failures, id .. ' ' .. reason)
  end
end

-- Jobs of which it was known before that nothing can be done to them.
function Page.count_misfits(misfits)
  for _, misfit in ipairs(misfits) do Page.count(misfit.jobId, misfit.reason, misfit.isChange == '1') end
end

-- Call it last. Answers what the step answers: 'ok done skipped failed woken'.
function Page.close(woken)
  local time = call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local answer = table.concat({ 'ok', Page.done, Page.skipped, Page.failed, woken }, ' ')
  local known = call('LLEN', KEYS.failures)
  local room = math.min(#Page.failures, tonumber(ARGV.failuresMax) - known)
  if room > 0 then
    call('RPUSH', KEYS.failures, unpack(Page.failures, 1, room))
    call('EXPIRE', KEYS.failures, ARGV.keepSeconds)
  end
  if ARGV.state == 'running' then
    call('ZADD', KEYS.bulksDue, string.format('%.0f', now + (Page.done + Page.failed) * ARGV.perJobMs), ARGV.member)
  else
    call('ZREM', KEYS.bulksDue, ARGV.member)
  end
  if Page.done > 0 then call('HINCRBY', KEYS.part, BULK_PART.done, Page.done) end
  if Page.skipped > 0 then call('HINCRBY', KEYS.part, BULK_PART.skipped, Page.skipped) end
  if Page.failed > 0 then call('HINCRBY', KEYS.part, BULK_PART.failed, Page.failed) end
  call('HSET', KEYS.part, BULK_PART.version, ARGV.version + 1, BULK_PART.nonce, ARGV.nonce, BULK_PART.answer, answer,
    BULK_PART.place, ARGV.place, BULK_PART.state, ARGV.state)
  call('EXPIRE', KEYS.part, ARGV.keepSeconds)
  return answer
end
