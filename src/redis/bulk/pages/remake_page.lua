#!lua
-- remake_page: works off a page of a bulk that makes new jobs of dead letters, which go to the finished chains. Ceilings are
-- as in lib/quota.lua, the rows of jobs as in acts/remake.
-- Answer as every page: 'ok done skipped failed woken' · 'stale' · 'gone' · or 'foreign_block': an id block belongs to
--       another process, and nothing was done.
-- Transition: dead-lettered → new pending job.
--#include lib/clock
--#include lib/bands
--#include lib/ring
--#include lib/usage
--#include lib/quota
--#include lib/record
--#include acts/remake
--#include acts/replay_letter
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
local CHANGED = { not_dead = 'not_dead_lettered' }
local REFUSED = { draining = 'queue_draining' }
local all_woken = 0
for _, job in ipairs(jobs) do
  local queue = queues[tonumber(job.queue)]
  local answer, _, woken = Remake.replay(queue, job, now, ARGV.retainMs)
  if answer == 'ok' or answer == 'again' then
    all_woken = all_woken + woken
    Page.count(job.oldId)
  else
    Page.count(job.oldId, CHANGED[answer] or REFUSED[answer] or 'over_quota', CHANGED[answer])
  end
end
Usage.write(KEYS.teamUsage)
Quota.write(KEYS.teamUsage)
return Page.close(all_woken)
