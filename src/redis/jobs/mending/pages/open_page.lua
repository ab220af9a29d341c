#!lua flags=allow-oom
-- open_page: works off a page of jobs that have not ended: cancels pending ones, or makes delayed ones due now.
-- action: cancel, cancel_unsent (only what was never sent) or fire · askedMs: of one job, when the caller asked first, so that a step that was sent twice answers
-- alike. Allowed when Redis is full: cancelling frees memory, and a job that is fired does not grow.
-- Answer as every page: 'ok done skipped failed woken' · 'stale' · 'gone' · of one job 'cancelled 0', 'fired woken',
--       'fired_before 0', or why not: already_due, in_flight, not_pending, damaged, sent.
-- Transition: pending → (none) · pending (delayed) → pending (ready).
--#include base/lib/clock
--#include ledger/retention/forget
--#include base/lib/usage
--#include base/lib/record
--#include ledger/retention/release_settings
--#include base/lib/suspects
--#include base/ring/bands
--#include base/ring/ring
--#include jobs/mending/open_job
--#include jobs/execute/claim/cancelled
--#include jobs/mending/cancel_job
--#include jobs/mending/fire_job
--#include ledger/audit-log/audit_log
--#include jobs/mending/pages/page

local queues = ROWS.queues
local jobs = ROWS.jobs
local refusal = Page.refusal()
if refusal then return refusal end

local now = shard_now(KEYS.clock, KEYS.executors, tonumber(ARGV.leaseMs))
use_ring(KEYS.ring, KEYS.teams)
local all_woken = 0
for _, job in ipairs(jobs) do
  local queue = queues[tonumber(job.queue)]
  local answer, woken
  if ARGV.action == 'fire' then
    -- Nothing of a bulk's page can have been fired before, as its part would have moved on.
    answer, woken = OpenJob.fire(queue, job, now, tonumber(ARGV.askedMs) or math.huge)
    if answer == 'fired' then Page.note_job(job.id, false) end
  else
    answer, woken = OpenJob.cancel(queue, job, now, ARGV.action == 'cancel_unsent'), 0
  end
  all_woken = all_woken + woken
  Page.count(job.id, answer, answer ~= 'damaged')
end
for _, queue in ipairs(queues) do OpenJob.trim_ready(queue) end
Usage.write(KEYS.teamUsage)
return Page.close(all_woken)
