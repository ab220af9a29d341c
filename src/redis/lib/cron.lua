-- Shared by the steps that know crons. Declares `Cron`.
--
-- A cron's state (value in ks:) is text of nine parts:
--   version|schedule|active|spread|bytes|tick|running|failures|success
-- version rises with every edit, and in the shard that the cron leaves · schedule: hash of expression and zone, 6
-- characters · active: 1, or 0 paused; in the shard that it leaves r, or p paused · bytes of its definition · tick: the
-- next one, '' = none · running: root id of the run that has not ended, or '' · failures in a row · success: the tick
-- of the newest run that succeeded, or ''.

local Cron = {}

-- nil when the state is damaged: its cron ticks no more until it is edited, and is edited as one without a state.
function Cron.parse(text)
  local version, schedule, active, spread, bytes, tick, running, failures, success =
    string.match(text, '^(%d+)|(......)|(%w)|(%d+)|(%d+)|(%d*)|(%d*)|(%d+)|(%d*)$')
  if not version then return nil end
  return {
    version = version, schedule = schedule, active = active, spread = tonumber(spread), bytes = bytes, tick = tick,
    running = running, failures = tonumber(failures), success = success,
  }
end

-- What a tick looks at, without a table: what stands before the tick, version, active, spread, tick, running, and what
-- stands after.
function Cron.parse_tick(text)
  local head, version, active, spread, tick, running, tail =
    string.match(text, '^((%d+)|......|(%w)|(%d+)|%d+|)(%d*)|(%d*)(|.*)$')
  return head, version, active, tonumber(spread or ''), tick, running, tail
end

function Cron.format(cron)
  return cron.version .. '|' .. cron.schedule .. '|' .. cron.active .. '|' .. string.format('%.0f', cron.spread) .. '|'
    .. cron.bytes .. '|' .. cron.tick .. '|' .. cron.running .. '|' .. string.format('%.0f', cron.failures) .. '|'
    .. cron.success
end

-- When the cron is next looked at; nil when it never is.
function Cron.due(cron)
  if cron.active ~= '1' or cron.tick == '' then return nil end
  return tonumber(cron.tick) + cron.spread
end
