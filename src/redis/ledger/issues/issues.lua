-- Shared by finish and reap: counts failed attempts by issue. Declares `Issues`. Wants `root_of`.
-- src/redis/ledger/issues/issue-rows.ts describes the row of a team.
--
-- A field of `issues` is '<local id of the queue>-<hash of the group>'; its value is text:
--   state|until|first|opened|last|sample|reason|status|host|hours
-- state: o open, a acknowledged, m muted, r resolved · until: when a mute ends, or '' · first, opened, last: 13 digits of Unix
-- ms · sample: the original of the chain that failed last · status: '' = there was no answer · hours: 'hour:failed:dead' for
-- each hour that had failures, newest first, and a comma between two; hour: since the epoch, dead: left a dead letter.
--
-- A queue has a share of its team's issues, and the team a bound. Beyond them a group has no room: its failures are counted at
-- '<local id>-other', or at '0-other' for a queue that has no issue. Once a minute, and once in a step, room is made: the
-- quarter with the fewest failures goes, of the queue if its share is used up, else of the queue with most issues. So a
-- queue that fails in ever new ways pushes out itself alone, and what fails often stays.
-- The field '#<local id>' is 'free|rests': how many issues its queue may still have, and until when no room is made for it;
-- '#0' is that of the team.

local Issues = {}

local HOUR_MS, REST_MS = 3600000, 60000
local RECORD = '^(%a)|(%d*)|(%d+)|(%d+)|(%d+)|(%d+)|([^|]*)|(%d*)|([^|]*)|([^|]*)$'
local has_made_room = false

local function whole(number) return string.format('%.0f', number) end

-- Notes a failed attempt. failure: `team`, `hash`, `reason`, `status`, `host`. Nothing is written until `write_queue`.
function Issues.note_failed(queue, failure, job_id, is_dead)
  queue.failed_groups = queue.failed_groups or {}
  local note
  for _, known in ipairs(queue.failed_groups) do
    if known.failure.hash == failure.hash then note = known end
  end
  if not note then
    note = { failure = failure, failed = 0, dead = 0 }
    queue.failed_groups[#queue.failed_groups + 1] = note
  end
  note.failed, note.job_id = note.failed + 1, job_id
  if is_dead then note.dead = note.dead + 1 end
end

-- Adds failures to the newest hour, or before it; an hour that begins drops those past the bound.
local function add_to_hour(hours, hour, failed, dead, hours_max)
  local newest, had_failed, had_dead, rest = string.match(hours, '^(%d+):(%d+):(%d+)(.*)$')
  if newest and tonumber(newest) >= hour then
    return newest .. ':' .. whole(tonumber(had_failed) + failed) .. ':' .. whole(tonumber(had_dead) + dead) .. rest
  end
  local kept = { whole(hour) .. ':' .. whole(failed) .. ':' .. whole(dead) }
  for at, one_failed, one_dead in string.gmatch(hours, '(%d+):(%d+):(%d+)') do
    if tonumber(at) > hour - hours_max then kept[#kept + 1] = at .. ':' .. one_failed .. ':' .. one_dead end
  end
  return table.concat(kept, ',')
end

local function failures_of(hours)
  local failed, dead = 0, 0
  for _, one_failed, one_dead in string.gmatch(hours, '(%d+):(%d+):(%d+)') do
    failed, dead = failed + tonumber(one_failed), dead + tonumber(one_dead)
  end
  return failed, dead
end

-- Counts what was noted in an issue. text: its value, '' = there is none yet.
local function put_issue(team, field, text, note, now)
  local hour, failure = math.floor(now / HOUR_MS), note.failure
  local state, till, first, opened, last, _, reason, status, host, hours = string.match(text, RECORD)
  local is_new = not state
  if is_new then
    state, till, first, opened, last, hours = 'o', '', pad13(now), pad13(now), pad13(now), ''
    reason, status, host = failure.reason, failure.status, failure.host
  end
  if state == 'r' then state, opened, is_new = 'o', pad13(now), true end
  call('HSET', team.issues, field, state .. '|' .. till .. '|' .. first .. '|' .. opened .. '|'
    .. pad13(math.max(now, tonumber(last))) .. '|' .. note.sample .. '|' .. reason .. '|' .. status .. '|' .. host .. '|'
    .. add_to_hour(hours, hour, note.failed, note.dead, tonumber(team.hoursMax)))
  -- The issue is looked at when it may be resolved for the first time.
  if is_new then call('ZADD', team.issuesDue, 'LT', now + tonumber(team.quietMs), team.team) end
end

-- Counts failures that have no issue of their own, or no longer.
local function put_other(team, local_id, counted, now)
  counted.failure = { reason = '', status = '', host = '' }
  local field = local_id .. '-other'
  put_issue(team, field, call('HGET', team.issues, field) or '', counted, now)
end

-- Drops a quarter of these issues: those first that nobody has acknowledged or muted, of them those with the fewest
-- failures, and the oldest. Answers how many.
local function drop_smallest(team, local_id, fields, now)
  local ranks, by_rank = {}, {}
  for i, text in ipairs(call('HMGET', team.issues, unpack(fields))) do
    local state, _, _, _, last, sample, _, _, _, hours = string.match(text or '', RECORD)
    local failed, dead = failures_of(hours or '')
    ranks[i] = ((state == 'a' or state == 'm') and '1' or '0') .. pad13(failed) .. (last or '') .. fields[i]
    by_rank[ranks[i]] = { field = fields[i], failed = failed, dead = dead, sample = sample or '0' }
  end
  table.sort(ranks)
  local dropped = math.max(1, math.floor(#ranks / 4))
  local sum = { failed = 0, dead = 0, sample = '0' }
  for i = 1, dropped do
    local issue = by_rank[ranks[i]]
    call('HDEL', team.issues, issue.field)
    sum.failed, sum.dead, sum.sample = sum.failed + issue.failed, sum.dead + issue.dead, issue.sample
  end
  if dropped == #ranks then
    local field = local_id .. '-other'
    local failed, dead = failures_of(string.match(call('HGET', team.issues, field) or '', '([^|]*)$'))
    sum.failed, sum.dead = sum.failed + failed, sum.dead + dead
    call('HDEL', team.issues, '#' .. local_id, field)
    local_id = '0'
  end
  put_other(team, local_id, sum, now)
  return dropped
end

-- Makes room for an issue of the queue, and notes what is free from now on.
local function make_room(team, queue, now)
  has_made_room = true
  local own, most, by_queue = queue.localId, nil, {}
  local names = call('HKEYS', team.issues)
  table.sort(names)
  for _, field in ipairs(names) do
    local local_id, hash = string.match(field, '^(%d+)-(%w+)$')
    if local_id and hash ~= 'other' then
      local of = by_queue[local_id] or {}
      by_queue[local_id] = of
      of[#of + 1] = field
      if not most or #of > #by_queue[most] then most = local_id end
    end
  end
  local count, share = by_queue[own] and #by_queue[own] or 0, tonumber(team.queueMax)
  if count >= share then
    count = count - drop_smallest(team, own, by_queue[own], now)
  elseif most and #names + 3 > tonumber(team.issuesMax) then
    local dropped = drop_smallest(team, most, by_queue[most], now)
    if most == own then count = count - dropped end
    call('HSET', team.issues, '#0', '0|' .. whole(now + REST_MS))
  end
  call('HSET', team.issues, '#' .. own, whole(share - count - 1) .. '|' .. whole(now + REST_MS))
end

-- Answers the field at which a group that is new is counted.
local function field_for(team, queue, note, now)
  local own, note_name = queue.localId, '#' .. queue.localId
  local is_full = call('HLEN', team.issues) + 3 > tonumber(team.issuesMax)
  local places, rests = string.match(call('HGET', team.issues, note_name) or '', '^(%d+)|(%d+)$')
  local place = own .. '-' .. note.failure.hash
  if not is_full and (not places or tonumber(places) > 0) then
    call('HSET', team.issues, note_name, whole((tonumber(places) or tonumber(team.queueMax)) - 1) .. '|' .. (rests or '0'))
    return place
  end
  local until_when = rests or string.match(call('HGET', team.issues, '#0') or '', '^%d+|(%d+)$')
  if has_made_room or now < tonumber(until_when or '0') then return (places and own or '0') .. '-other' end
  make_room(team, queue, now)
  return place
end

-- Writes what was noted of a queue.
function Issues.write_queue(queue, now)
  for _, note in ipairs(queue.failed_groups) do
    local team = note.failure.team
    local field = queue.localId .. '-' .. note.failure.hash
    note.sample = root_of(note.job_id)
    local text = call('HGET', team.issues, field)
    if not text then field = field_for(team, queue, note, now) end
    if string.sub(field, -6) == '-other' then
      put_other(team, string.sub(field, 1, -7), note, now)
    else
      put_issue(team, field, text or '', note, now)
    end
  end
end
