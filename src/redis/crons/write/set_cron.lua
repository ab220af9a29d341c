#!lua flags=allow-oom
-- set_cron: makes a cron in the shard it lives in, or changes its settings. A new schedule and the end of a pause count
-- from now on; every other change keeps the next tick. A tick that was due before is recorded as missed. Settings that are
-- already applied are not written. Allowed when Redis is full, as set_queue is. A cron that comes from another shard brings
-- its state, its records and what it has said. In its home shard the step checks its name and the shards noted there.
-- Answer {'superseded'} when the shard has another leader epoch · {'conflict'} when the name has another id by now or other
--       shards are noted · {'overdue', now, state, definition, or '' for the one it brings} when another tick than
--       overdueTick was due and will not run · {'time', now} when `askedMs`, the time firstTick was computed for, lies in
--       another minute than now, so that another tick may come first · {'set', now, next tick with the spread, or ''}.
--#include base/lib/clock
--#include base/lib/epoch
--#include base/lib/cron

local id, definition, schedule, active = ARGV.cronId, ARGV.definition, ARGV.scheduleHash, ARGV.active
local spread = tonumber(ARGV.spreadMs)
if is_superseded(KEYS.leaderEpoch, ARGV.epoch) then return { 'superseded' } end
if ARGV.homeField ~= '' then
  local shards = call('HGET', KEYS.cronShards, id) or ''
  if call('HGET', KEYS.cronIds, ARGV.homeField) ~= id or shards ~= ARGV.shards then return { 'conflict' } end
end
local now = shard_now(KEYS.clock, KEYS.executors, tonumber(ARGV.leaseMs))
local known = call('HGET', KEYS.cronStates, id)

local function answer(cron)
  local due = Cron.due(cron)
  return { 'set', pad13(now), due and pad13(due) or '' }
end

local cron = { version = '0', schedule = '', active = '0', tick = '', running = '', failures = 0, success = '' }
if known then cron = Cron.parse(known) or cron end
-- After a crash the cron may have arrived already, or an older state of it may still be here from before it left.
local brought = ARGV.state ~= '' and Cron.parse(ARGV.state)
local is_brought = brought and tonumber(brought.version) > tonumber(cron.version)
if is_brought then cron = brought end
local was_active = cron.active == '1' or cron.active == 'r'
local is_same = cron.schedule == schedule and cron.active == active and cron.spread == spread

-- A cron that was applied by a program without alerts gets its threshold here.
local function write_said()
  local text = call('HGET', KEYS.cronAlerts, id)
  local last = Cron.said(is_brought and ARGV.said or text) or { raised = '', reason = '' }
  local said = Cron.say({
    raised = last.raised, reason = last.reason, threshold = tonumber(ARGV.threshold), name = ARGV.name, title = ARGV.title,
  })
  if said ~= text then call('HSET', KEYS.cronAlerts, id, said) end
end

if known and is_same and call('HGET', KEYS.cronDefinitions, id) == definition then
  write_said()
  return answer(cron)
end

local keeps_tick = active == '1' and was_active and cron.schedule == schedule and cron.tick ~= ''
local is_overdue = not keeps_tick and was_active and cron.tick ~= '' and tonumber(cron.tick) + cron.spread <= now
if is_overdue and cron.tick ~= ARGV.overdueTick then
  local last = is_brought and '' or call('HGET', KEYS.cronDefinitions, id) or ''
  return { 'overdue', pad13(now), Cron.format(cron), last }
end
local is_timed = is_overdue or (active == '1' and not keeps_tick)
if is_timed and math.floor(now / 60000) ~= math.floor(tonumber(ARGV.askedMs) / 60000) then return { 'time', pad13(now) } end
if not keeps_tick then cron.tick = active == '1' and ARGV.firstTick or '' end
cron.version = string.format('%.0f', tonumber(cron.version) + 1)
cron.schedule, cron.active, cron.spread, cron.bytes = schedule, active, spread, ARGV.bytes

if is_brought then
  call('DEL', KEYS.cronRecords)
  for i = arg_at + 1, #ARGV do call('RPUSH', KEYS.cronRecords, ARGV[i]) end
end
local records_max = tonumber(ARGV.recordsMax)
if is_overdue and call('LPUSH', KEYS.cronRecords, ARGV.overdueRecord) > records_max then
  call('LTRIM', KEYS.cronRecords, 0, records_max - 1)
end
local due = Cron.due(cron)
call('HSET', KEYS.cronDefinitions, id, definition)
if due then call('ZADD', KEYS.cronsDue, due, id) else call('ZREM', KEYS.cronsDue, id) end
write_said()
-- From here on a resend finds the settings applied.
call('HSET', KEYS.cronStates, id, Cron.format(cron))
return answer(cron)
