#!lua flags=allow-oom
-- count_outcome: counts what became of jobs that the part of a bulk made. looked: how many at the head of the list of those
-- that wait were looked at; what still waits of them (`waiting`, ids between blanks) goes to its end. One step removes an
-- id and counts it, and only if nobody has looked since the caller read the list: so each job is counted once.
-- It is due again at once until all have been looked at, or as many as looksMax, and after restMs then; and at once as well
-- while most of the jobs have ended. Allowed when Redis is full: nothing grows.
-- Answer 'counted' · 'over' nothing waits · 'stale' somebody else was faster · 'gone' there is no such part.
-- Transition of a made job in the outcome: waiting → succeeded, failed again or removed.
local call = redis.call

local known = call('HMGET', KEYS.part, BULK_PART.version, BULK_PART.outcomeVersion, BULK_PART.looksLeft)
if not known[1] then
  call('ZREM', KEYS.bulksDue, ARGV.member)
  call('UNLINK', KEYS.bulkWaiting)
  return 'gone'
end
if (known[2] or '0') ~= ARGV.version then return 'stale' end
local looked = tonumber(ARGV.looked)
local ids = {}
for id in string.gmatch(ARGV.waiting, '%d+') do ids[#ids + 1] = id end
if looked > 0 then call('LTRIM', KEYS.bulkWaiting, looked, -1) end
if #ids > 0 then
  call('RPUSH', KEYS.bulkWaiting, unpack(ids))
  call('EXPIRE', KEYS.bulkWaiting, ARGV.keepSeconds)
end
local function count(field, jobs)
  if jobs ~= '0' then call('HINCRBY', KEYS.part, field, jobs) end
end
count(BULK_PART.succeeded, ARGV.succeeded)
count(BULK_PART.failedAgain, ARGV.failedAgain)
count(BULK_PART.removed, ARGV.removed)

local waiting = call('LLEN', KEYS.bulkWaiting)
local left = tonumber(known[3] or '0')
if left <= 0 then left = math.min(waiting, tonumber(ARGV.looksMax)) end
left = math.max(0, left - looked)
call('HSET', KEYS.part, BULK_PART.looksLeft, left, BULK_PART.outcomeVersion, ARGV.version + 1)
call('EXPIRE', KEYS.part, ARGV.keepSeconds)
if waiting == 0 then
  call('ZREM', KEYS.bulksDue, ARGV.member)
  return 'over'
end
local is_rest = left == 0 and #ids * 2 > looked
call('ZADD', KEYS.bulksDue, string.format('%.0f', ARGV.dueMs + (is_rest and ARGV.restMs or 0)), ARGV.member)
return 'counted'
