#!lua
-- remake_page: works off a page of dead letters of which new jobs are made, and which go to the finished chains, or of
-- finished chains that failed. action: replay, or retry, which is for both · teams: the one that has them, with its
-- ceilings · jobs: rows as mending/remake.lua wants them; `before`: the summary as the caller read it, '' = a dead letter.
-- Sent twice, done once.
-- Answer as every page: 'ok done skipped failed woken' · 'stale' · 'gone' · of one job 'made woken due' or 'made_before 0
--       due', or why not: queue_draining, 'over_quota 0 quota', and not_dead_lettered, already_made or not_found when the
--       chain is not what was read of it · or 'foreign_block': an id block belongs to another process; nothing was done.
-- Transition: dead-lettered → new pending job · (none) → pending.
--#include base/lib/clock
--#include base/ring/bands
--#include base/ring/ring
--#include base/lib/usage
--#include base/lib/quota
--#include base/lib/record
--#include base/lib/job_index
--#include jobs/mending/remake
--#include jobs/mending/replay_letter
--#include jobs/mending/retry_chain
--#include ledger/audit-log/audit_log
--#include jobs/mending/pages/page

local teams = ROWS.teams
local queues = ROWS.queues
local jobs = ROWS.jobs
local refusal = Page.refusal()
if refusal then return refusal end

local now = shard_now(KEYS.clock, KEYS.executors, tonumber(ARGV.leaseMs))
for _, job in ipairs(jobs) do
  job.nonce = ARGV.blockNonce
  job.answer, job.due = Remake.made_before(queues[tonumber(job.queue)], job, now)
  if job.answer == 'foreign_block' then return job.answer end
end
Quota.bound(now, ARGV.month, ARGV.monthEndsMs, ARGV.allBytesMax)
local quota = Quota.add_team(teams[1])
for _, queue in ipairs(queues) do queue.quota = quota end
use_ring(KEYS.ring, KEYS.teams)

-- Says why a chain is not what was read of it.
local function change_of(queue, job)
  if ARGV.action == 'replay' then return 'not_dead_lettered' end
  return call('HEXISTS', queue.summaries, job.root) == 1 and 'already_made' or 'not_found'
end

local all_woken = 0
for _, job in ipairs(jobs) do
  local queue = queues[tonumber(job.queue)]
  local answer, detail, woken = job.answer, job.due, 0
  if not answer and job.before == '' then
    answer, detail, woken = Remake.replay(queue, job, now, ARGV.retainMs)
  elseif not answer then
    answer, detail, woken = Remake.retry(queue, job, now)
  end
  all_woken = all_woken + (woken or 0)
  if answer == 'made' or answer == 'made_before' then Page.note_job(job.id, true) end
  local is_changed = answer == 'changed'
  Page.count(job.oldId, is_changed and change_of(queue, job) or answer, is_changed, detail)
end
Usage.write(KEYS.teamUsage)
Quota.write(KEYS.teamUsage)
return Page.close(all_woken)
