import { StoreUnavailableError } from '../../../src/domain/errors.ts'
import { loadScripts, type StepName, type Scripts } from '../../../src/redis/steps.ts'
import type { StepRunner } from '../../../src/redis/base/engine/step-runner.ts'
import type { StepCall } from '../../../src/redis/base/engine/step.ts'

/**
 * Put before every script. A Redis that is no cluster lets a script use any key, and one that is lets it use any key of
 * its slot: here a command with a key outside KEYS is an error. The two arguments after the script's own are the time
 * that TIME answers (0 = the server's) and the number of the call that raises an error (0 = none). No script can catch
 * these errors: they stand for a step that ends there, and for a key that nobody may use.
 */
const PRELUDE = `
local pcall = (function(real)
  local function pass(ok, answer, ...)
    local err = not ok and tostring(type(answer) == 'table' and answer.err or answer)
    if err and (string.find(err, 'TORN', 1, true) or string.find(err, 'UNDECLARED', 1, true)) then error({ err = err }) end
    return ok, answer, ...
  end
  return function(...) return pass(real(...)) end
end)(pcall)
local redis = (function(real)
  local tear_at, time = tonumber(table.remove(ARGV)), tonumber(table.remove(ARGV))
  local declared, calls = {}, 0
  for _, key in ipairs(KEYS) do declared[key] = true end
  local every, two = { EXISTS = true, DEL = true, UNLINK = true }, { RENAME = true }
  local function check(name, key)
    if not declared[key] then error({ err = 'UNDECLARED ' .. name .. ' ' .. tostring(key) }) end
  end
  return { call = function(name, ...)
    calls = calls + 1
    if calls == tear_at then error({ err = 'TORN at ' .. calls .. ' ' .. name }) end
    if name == 'TIME' then
      if time == 0 then return real.call('TIME') end
      return { string.format('%.0f', math.floor(time / 1000)), string.format('%.0f', time % 1000 * 1000) }
    end
    if name == 'INFO' then return real.call(name, ...) end
    local keys = { ... }
    for i = 1, every[name] and #keys or two[name] and 2 or 1 do check(name, keys[i]) end
    return real.call(name, ...)
  end }
end)(redis)`

export function loadWrappedScripts(
  rewrite: (source: string, name: StepName) => string = (source) => source,
): Scripts {
  const prelude = PRELUDE.replaceAll('\n', ' ')
  // On the line of the shebang's end, so that line numbers in errors stay near the truth.
  return loadScripts((source, name) => rewrite(source, name as StepName).replace('\n', `\n${prelude}\n`))
}

/** The clock of a test: Redis's and, apart from its jumps, the program's. */
export interface TestClock {
  wallMs: number
  monotonicMs: number
  /** Time passes. */
  advance(ms: number): void
  /** Somebody sets the clock of Redis. */
  jump(ms: number): void
}

/** The evening before a leap day, so that days roll soon; far ahead, so that EXPIREAT never lies in the past. */
export const TEST_EPOCH_MS = Date.UTC(2032, 1, 28, 23, 57, 30, 250)

export function createTestClock(startMs: number = TEST_EPOCH_MS): TestClock {
  const clock = {
    wallMs: startMs,
    monotonicMs: 0,
    advance: (ms: number) => {
      clock.wallMs += ms
      clock.monotonicMs += ms
    },
    jump: (ms: number) => {
      clock.wallMs += ms
    },
  }
  return clock
}

export interface SentStep extends StepCall {
  readonly name: StepName
  reply: unknown
}

/** What a test does to the steps that pass. */
export interface StepFaults {
  /** The next step of this name is done and its answer lost: the caller sees a fault. */
  readonly lost: Set<StepName>
  /** The next step of this name is done, its answer lost, and sent again at once. */
  readonly resent: Set<StepName>
  /** The next step of this name raises an error at this call. */
  readonly torn: Map<StepName, number>
  /** The error that a torn step raised; null = none was torn yet. Whoever sent it may have kept it to themselves. */
  tear: string | null
  /** May act on Redis between what the caller read and its step. */
  before: (step: SentStep) => void | Promise<void>
  after: (step: SentStep) => void
}

export function createStepFaults(): StepFaults {
  return {
    lost: new Set(),
    resent: new Set(),
    torn: new Map(),
    tear: null,
    before: () => undefined,
    after: () => undefined,
  }
}

/** Runs wrapped scripts on the test clock. Estimates Redis time as the real runner does, from the last answer. */
export function wrapRunner(
  inner: StepRunner,
  clock: TestClock,
  faults: StepFaults,
  sent: Map<StepName, SentStep>,
): StepRunner {
  const offsets: number[] = []

  async function send(step: SentStep): Promise<unknown> {
    const tearAt = faults.torn.get(step.name) ?? 0
    faults.torn.delete(step.name)
    await faults.before(step)
    const sent = inner.run({ name: step.name, keys: step.keys, args: [...step.args, clock.wallMs, tearAt] })
    step.reply = await sent.catch((error: unknown) => {
      if (String(error).includes('TORN')) faults.tear = String(error)
      throw error
    })
    faults.after(step)
    return step.reply
  }

  const runner: StepRunner = {
    run: async (call) => {
      const name = call.name as StepName
      const step: SentStep = { ...call, name, reply: undefined }
      sent.set(name, step)
      if (faults.resent.delete(name)) await send(step)
      const reply = await send(step)
      if (faults.lost.delete(name)) throw new StoreUnavailableError('the answer was lost')
      return reply
    },
    // The real one is an object of a class: its methods do not work without it.
    read(reads) {
      if (this !== runner) throw new Error('read is called without its runner')
      return inner.read(reads)
    },
    redisNowMs: (shard) => clock.monotonicMs + (offsets[shard] ?? clock.wallMs - clock.monotonicMs),
    noteRedisTime: (shard, redisMs) => {
      offsets[shard] = redisMs - clock.monotonicMs
    },
  }
  return runner
}
