#!lua flags=allow-oom
-- purge_page: works off a page of a bulk that removes dead letters for good.
-- Answer as every page: 'ok done skipped failed woken' · 'stale' · 'gone'.
-- Transition: dead-lettered → (none).
local call = redis.call
--#include retention/forget
--#include lib/usage
--#include acts/dead_letter
--#include bulk/pages/page

local misfits = ROWS.misfits
local queues = ROWS.queues
local jobs = ROWS.jobs
local refusal = Page.refusal()
if refusal then return refusal end
Page.count_misfits(misfits)
for _, job in ipairs(jobs) do
  local is_purged = DeadLetter.purge(queues[tonumber(job.queue)], job)
  Page.count(job.id, not is_purged and 'not_dead_lettered', true)
end
Usage.write(KEYS.teamUsage)
return Page.close(0)
