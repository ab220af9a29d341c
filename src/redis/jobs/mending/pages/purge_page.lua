#!lua flags=allow-oom
-- purge_page: works off a page of a bulk that removes dead letters for good.
-- Answer as every page: 'ok done skipped failed woken' · 'stale' · 'gone'.
-- Transition: dead-lettered → (none).
local call = redis.call
--#include ledger/retention/forget
--#include base/lib/usage
--#include ledger/retention/dead_letter
--#include ledger/audit-log/audit_log
--#include jobs/mending/pages/page

local queues = ROWS.queues
local jobs = ROWS.jobs
local refusal = Page.refusal()
if refusal then return refusal end
for _, job in ipairs(jobs) do
  local is_purged = DeadLetter.purge(queues[tonumber(job.queue)], job)
  Page.count(job.id, is_purged and 'cancelled' or 'not_dead_lettered', true)
end
Usage.write(KEYS.teamUsage)
return Page.close(0)
