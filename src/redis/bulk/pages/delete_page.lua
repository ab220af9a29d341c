#!lua flags=allow-oom
-- delete_page: works off a page of a bulk that deletes jobs in any state but in flight.
-- Answer as every page: 'ok done skipped failed woken' · 'stale' · 'gone'.
-- Transition: pending → (none) · dead-lettered → (none).
--#include lib/clock
--#include retention/forget
--#include lib/usage
--#include lib/record
--#include retention/release_settings
--#include lib/suspects
--#include lib/bands
--#include lib/ring
--#include acts/open_job
--#include acts/cancel_job
--#include acts/dead_letter
--#include bulk/pages/page

local misfits = ROWS.misfits
local queues = ROWS.queues
local jobs = ROWS.jobs
local refusal = Page.refusal()
if refusal then return refusal end
Page.count_misfits(misfits)
local now = shard_now(KEYS.clock, KEYS.executors, tonumber(ARGV.leaseMs))
use_ring(KEYS.ring, KEYS.teams)
for _, job in ipairs(jobs) do
  local queue = queues[tonumber(job.queue)]
  local answer = OpenJob.cancel(queue, job, now)
  if answer == 'not_pending' and DeadLetter.purge(queue, job) then answer = 'cancelled' end
  if answer == 'not_pending' then answer = 'not_found' end
  Page.count(job.id, answer ~= 'cancelled' and answer, true)
end
Usage.write(KEYS.teamUsage)
return Page.close(0)
