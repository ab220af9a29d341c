-- Shared by the steps that know crons. Declares `Cron`.
--
-- A cron's state, a value in `cronStates`, is text of nine parts:
--   version|schedule|active|spread|bytes|tick|running|failures|success
-- version: rises with every edit, and when the cron is retired in a shard · schedule: hash of expression and zone, 6
-- characters · active: 1, or 0 while paused; r or p instead when retired · spread: ms · bytes: of its definition · tick:
-- the next one, or '' · running: root id of the run that has not ended, or '' · failures: in a row · success: the tick of
-- the newest run that succeeded, or ''.

--
-- What a cron has said, a value in `cronAlerts`, is text of five parts, apart from the state so that a program that does
-- not know of alerts can read all it needs:
--   raised|reason|threshold|name|title
-- raised: '' nothing · f a failure, which stands until a success · m the same, while a window muted it · reason: of that
-- failure, or '' · threshold: failures in a row that are a failure of the cron · name: of its resource · title: its display
-- name, as a JSON array of one.

local Cron = {}

-- nil when the state is damaged. Such a cron does not tick until an edit, which treats it as one without a state.
function Cron.parse(text)
  local version, schedule, active, spread, bytes, tick, running, failures, success =
    string.match(text, '^(%d+)|(......)|(%w)|(%d+)|(%d+)|(%d*)|(%d*)|(%d+)|(%d*)$')
  if not version then return nil end
  return {
    version = version, schedule = schedule, active = active, spread = tonumber(spread), bytes = bytes, tick = tick,
    running = running, failures = tonumber(failures), success = success,
  }
end

-- The parts that a tick needs, without a table: the text before the tick, version, active, spread, tick, running, and the
-- text after them.
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

-- When the cron ticks next; nil when it does not.
function Cron.due(cron)
  if cron.active ~= '1' or cron.tick == '' then return nil end
  return tonumber(cron.tick) + cron.spread
end

-- nil when there is none, or it is damaged; an edit writes it again.
function Cron.said(text)
  local raised, reason, threshold, name, title = string.match(text or '', '^([^|]*)|([^|]*)|(%d+)|([^|]*)|(.+)$')
  if not raised then return nil end
  return { raised = raised, reason = reason, threshold = tonumber(threshold), name = name, title = title }
end

function Cron.say(said)
  return said.raised .. '|' .. said.reason .. '|' .. string.format('%.0f', said.threshold) .. '|' .. said.name .. '|'
    .. said.title
end
