#!lua flags=allow-oom
-- set_cron: makes a cron in the shard it lives in, or puts new settings in force. A new schedule and the end of a pause
-- count from now on; all else leaves the next tick as it is. A tick that was due before that is noted as missed. What is
-- in force already is not written. Allowed when Redis is full, as set_queue is.
-- KEYS  1 clk  2 ex  3 crons  4 kd  5 ks  6 kr  7 epoch  8 kn  9 ki
-- ARGV  lease_ms, cron id, definition, schedule hash, active (1 or 0), spread, bytes, first tick after `asked` or '',
--       asked (Redis time the tick was computed for), epoch or '' (no leader),
--       team/name where it is at home, else '', the places noted there, tick that was due and will not run or '', its
--       record, records_max, state it brings from another shard or '', records it brings…
-- Answer {'superseded'} when a later epoch is known · {'moved'} when at home the name has another id by now, or another
--       place is noted · {'overdue', now, state, definition, '' when they are brought} when another tick was due and
--       will not run · {'time', now} when `asked` lies in another minute than now, and another tick may come first, else
--       {'set', now, next tick with the spread or ''}.
--#include lib/clock
--#include lib/epoch
--#include lib/cron

local id, definition, schedule, active = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local spread, bytes, first, brought = tonumber(ARGV[6]), ARGV[7], ARGV[8], ARGV[16]
if is_superseded(KEYS[7], ARGV[10]) then return { 'superseded' } end
if ARGV[11] ~= '' then
  if call('HGET', KEYS[8], ARGV[11]) ~= id or (call('HGET', KEYS[9], id) or '') ~= ARGV[12] then return { 'moved' } end
end
local now = shard_now(KEYS[1], KEYS[2], tonumber(ARGV[1]))
local known = call('HGET', KEYS[5], id)

local function answer(cron)
  local due = Cron.due(cron)
  return { 'set', pad13(now), due and pad13(due) or '' }
end

local cron = { version = '0', schedule = '', active = '0', tick = '', running = '', failures = 0, success = '' }
if known then cron = Cron.parse(known) or cron end
-- After a crash it may be here already, or still be here from before it went there.
local other = brought ~= '' and Cron.parse(brought)
local is_brought = other and tonumber(other.version) > tonumber(cron.version)
if is_brought then cron = other end
local was_active = cron.active == '1' or cron.active == 'r'
local is_same = cron.schedule == schedule and cron.active == active and cron.spread == spread
if known and is_same and call('HGET', KEYS[4], id) == definition then return answer(cron) end

local keeps_tick = active == '1' and was_active and cron.schedule == schedule and cron.tick ~= ''
local is_overdue = not keeps_tick and was_active and cron.tick ~= '' and tonumber(cron.tick) + cron.spread <= now
if is_overdue and cron.tick ~= ARGV[13] then
  return { 'overdue', pad13(now), Cron.format(cron), is_brought and '' or call('HGET', KEYS[4], id) or '' }
end
local is_timed = is_overdue or (active == '1' and not keeps_tick)
if is_timed and math.floor(now / 60000) ~= math.floor(tonumber(ARGV[9]) / 60000) then return { 'time', pad13(now) } end
if not keeps_tick then cron.tick = active == '1' and first or '' end
cron.version = string.format('%.0f', tonumber(cron.version) + 1)
cron.schedule, cron.active, cron.spread, cron.bytes = schedule, active, spread, bytes

if is_brought then
  call('DEL', KEYS[6])
  for i = 17, #ARGV do call('RPUSH', KEYS[6], ARGV[i]) end
end
if is_overdue and call('LPUSH', KEYS[6], ARGV[14]) > tonumber(ARGV[15]) then
  call('LTRIM', KEYS[6], 0, tonumber(ARGV[15]) - 1)
end
local due = Cron.due(cron)
call('HSET', KEYS[4], id, definition)
if due then call('ZADD', KEYS[3], due, id) else call('ZREM', KEYS[3], id) end
-- From here on a resend finds it in force.
call('HSET', KEYS[5], id, Cron.format(cron))
return answer(cron)
