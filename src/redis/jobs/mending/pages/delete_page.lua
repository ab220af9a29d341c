#!lua flags=allow-oom
-- delete_page: works off a page of jobs that are deleted in any state but in flight.
-- Answer as every page: 'ok done skipped failed woken' · 'stale' · 'gone' · of one job 'cancelled 0', or why not:
--       in_flight, not_ended, not_found.
-- Transition: pending → (none) · dead-lettered → (none) · finished → (none).
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
--#include ledger/retention/dead_letter
--#include jobs/history/blocks
--#include jobs/history/sealed
--#include jobs/history/bury
--#include ledger/audit-log/audit_log
--#include jobs/mending/pages/page

local queues = ROWS.queues
local jobs = ROWS.jobs
local refusal = Page.refusal()
if refusal then return refusal end
local now = shard_now(KEYS.clock, KEYS.executors, tonumber(ARGV.leaseMs))
use_ring(KEYS.ring, KEYS.teams)

for _, job in ipairs(jobs) do
  local queue = queues[tonumber(job.queue)]
  local answer = OpenJob.cancel(queue, job, now)
  if answer == 'not_pending' then
    if DeadLetter.purge(queue, job) or bury(queue, job, tonumber(ARGV.shards)) then
      answer = 'cancelled'
    else
      -- The job has ended, and its chain goes on with a retry.
      answer = call('HGET', job.jobIndex, job.field) == queue.localId and 'not_ended' or 'not_found'
    end
  end
  Page.count(job.id, answer, true)
end
for _, queue in ipairs(queues) do OpenJob.trim_ready(queue) end
Usage.write(KEYS.teamUsage)
return Page.close(0)
