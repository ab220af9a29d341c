#!lua flags=allow-oom
-- delete_page: works off a page of a bulk that deletes jobs in any state but in flight.
-- Answer as every page: 'ok done skipped failed woken' · 'stale' · 'gone'.
-- Transition: pending → (none) · dead-lettered → (none) · finished → (none).
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
--#include acts/dead_letter
--#include history/blocks
--#include history/sealed
--#include history/bury
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
  if answer == 'not_pending' then
    if DeadLetter.purge(queue, job) or bury(queue, job, tonumber(ARGV.shards)) then
      answer = 'cancelled'
    else
      -- An ended job whose chain goes on, with a retry.
      answer = call('HGET', job.jobIndex, job.field) == queue.localId and 'not_ended' or 'not_found'
    end
  end
  Page.count(job.id, answer ~= 'cancelled' and answer, true)
end
for _, queue in ipairs(queues) do OpenJob.trim_ready(queue) end
Usage.write(KEYS.teamUsage)
return Page.close(0)
