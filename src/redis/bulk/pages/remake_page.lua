#!lua
-- remake_page: works off a page of a bulk that makes new jobs of dead letters, which go to the finished chains, or of
-- finished chains that failed. action: replay, or retry, which is for both. Ceilings are as in lib/quota.lua, the rows of
-- jobs as in acts/remake; `before` '' = a dead letter.
-- Answer as every page: 'ok done skipped failed woken' · 'stale' · 'gone' · or 'foreign_block': an id block belongs to
--       another process, and nothing was done.
-- Transition: dead-lettered → new pending job · (none) → pending.
--#include lib/clock
--#include lib/bands
--#include lib/ring
--#include lib/usage
--#include lib/quota
--#include lib/record
--#include acts/remake
--#include acts/replay_letter
--#include acts/retry_chain
--#include bulk/pages/page

local misfits = ROWS.misfits
local queues = ROWS.queues
local jobs = ROWS.jobs
local refusal = Page.refusal()
if refusal then return refusal end
for _, job in ipairs(jobs) do
  job.nonce = ARGV.blockNonce
  if (call('HGET', job.jobIndex, INDEX.owner) or job.nonce) ~= job.nonce then return 'foreign_block' end
end
Page.count_misfits(misfits)

local now = shard_now(KEYS.clock, KEYS.executors, tonumber(ARGV.leaseMs))
Quota.bound(now, ARGV.month, ARGV.monthEndsMs, ARGV.allBytesMax)
local quota = Quota.add_team(ARGV.team, ARGV.jobsMax, ARGV.bytesMax, ARGV.monthMax, ARGV.isShare)
for _, queue in ipairs(queues) do queue.quota = quota end
use_ring(KEYS.ring, KEYS.teams)
local REFUSED = { draining = 'queue_draining' }

-- Why a chain is not what was read of it.
local function change_of(queue, job)
  if ARGV.action == 'replay' then return 'not_dead_lettered' end
  return call('HEXISTS', queue.summaries, job.root) == 1 and 'already_made' or 'not_found'
end

local all_woken = 0
for _, job in ipairs(jobs) do
  local queue = queues[tonumber(job.queue)]
  local answer, woken, _
  if job.before == '' then
    answer, _, woken = Remake.replay(queue, job, now, ARGV.retainMs)
  else
    answer, _, woken = Remake.retry(queue, job, now)
  end
  local is_changed = answer == 'not_dead' or answer == 'changed'
  if answer == 'ok' or answer == 'again' then
    all_woken = all_woken + woken
    Page.count(job.oldId)
  else
    Page.count(job.oldId, is_changed and change_of(queue, job) or REFUSED[answer] or 'over_quota', is_changed)
  end
end
Usage.write(KEYS.teamUsage)
Quota.write(KEYS.teamUsage)
return Page.close(all_woken)
