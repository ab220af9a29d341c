#!lua flags=allow-oom
-- open_page: works off a page of a bulk on jobs that have not ended: cancels pending ones, or makes delayed ones due now.
-- action: cancel or fire. Allowed when Redis is full: cancelling frees memory, and a job that is fired does not grow.
-- Answer as every page: 'ok done skipped failed woken' · 'stale' · 'gone'.
-- Transition: pending → (none) · pending (delayed) → pending (ready).
--#include lib/clock
--#include retention/forget
--#include lib/usage
--#include lib/record
--#include retention/release_settings
--#include lib/suspects
--#include lib/bands
--#include lib/ring
--#include acts/open_job
--#include acts/cancelled
--#include acts/cancel_job
--#include acts/fire_job
--#include bulk/pages/page

local misfits = ROWS.misfits
local queues = ROWS.queues
local jobs = ROWS.jobs
local refusal = Page.refusal()
if refusal then return refusal end
Page.count_misfits(misfits)

local now = shard_now(KEYS.clock, KEYS.executors, tonumber(ARGV.leaseMs))
use_ring(KEYS.ring, KEYS.teams)
local all_woken = 0
for _, job in ipairs(jobs) do
  local queue = queues[tonumber(job.queue)]
  local answer, woken
  if ARGV.action == 'fire' then
    -- Nothing was fired before: then the part would have moved on.
    answer, woken = OpenJob.fire(queue, job, now, math.huge)
  else
    answer, woken = OpenJob.cancel(queue, job, now), 0
  end
  all_woken = all_woken + woken
  if answer == 'due' then answer = 'already_due' end
  Page.count(job.id, answer ~= 'fired' and answer ~= 'cancelled' and answer, answer ~= 'damaged')
end
for _, queue in ipairs(queues) do OpenJob.trim_ready(queue) end
Usage.write(KEYS.teamUsage)
return Page.close(all_woken)
