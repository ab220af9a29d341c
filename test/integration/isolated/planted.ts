/** Plants an exception in one pure function at a time, thrown whenever it is called about one team. */
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { vi } from 'vitest'

const SOURCES = join(import.meta.dirname, '../../../src')
/** Rooms of nothing but pure functions, and pure files of others. */
const PURE = [
  'domain/**/*.ts',
  'redis/base/layout/*.ts',
  'redis/jobs/execute/claim/claim-reply.ts',
  'redis/jobs/execute/finish/work-end.ts',
  'redis/jobs/execute/finish/batch-job.ts',
  'executor/crons/cron-decision.ts',
  'executor/crons/held-crons.ts',
  'executor/calls/call-judgement.ts',
  'executor/calls/call-record.ts',
  'executor/calls/own-settings.ts',
  'executor/notifier/notification-composer.ts',
  'redis/ledger/notifications/channel-record.ts',
  'senders/messages/*.ts',
]
/** Whatever is the bad team's has one of these in it. */
export const BAD_TEAM = 'badteam'
export const BAD_ZONE = 'Asia/Kathmandu'
/** What its target answers. */
export const BAD_STATUS = 599
const IS_BAD = /badteam|Kathmandu/
/** How much of the arguments is looked through. */
const DEPTH_MAX = 6
const VALUES_MAX = 4_000

const state = { planted: null as string | null, isWatching: false, thrown: 0 }
const seen = new Set<string>()

export const exceptions = {
  /** From now on the function of this name throws over the bad team; null = none does. */
  plant(name: string | null): void {
    state.planted = name
    state.thrown = 0
  },
  get thrown(): number {
    return state.thrown
  },
  /** Whether functions that are called about the bad team are noted, and may throw. */
  watch(isWatching: boolean): void {
    state.isWatching = isWatching
  },
  /** Before another kind of step is watched. */
  forget: () => seen.clear(),
  /** `folder/file.ts name` of each. */
  seen: (): string[] => [...seen].toSorted(),
}

/** Wraps every function that pure modules export. Before the modules that use it are imported. */
export function wrapPure(): void {
  for (const file of globSync(PURE, { cwd: SOURCES })) {
    vi.doMock(join(SOURCES, file), async (importOriginal) => {
      const original = await importOriginal<Record<string, unknown>>()
      const entries = Object.entries(original).map(([name, value]) => [
        name,
        wrapped(`${file} ${name}`, value),
      ])
      return Object.fromEntries(entries) as Record<string, unknown>
    })
  }
}

function wrapped(name: string, value: unknown): unknown {
  if (typeof value !== 'function' || /^class\b/.test(Function.prototype.toString.call(value))) return value
  return (...args: unknown[]): unknown => {
    if (state.isWatching && mentionsBad(args)) {
      seen.add(name)
      if (state.planted === name) {
        state.thrown += 1
        throw new Error(`planted in ${name}`)
      }
    }
    return (value as (...all: unknown[]) => unknown)(...args)
  }
}

/** Only by the name of its field: a duration may be 599 ms by chance. */
function isBadStatus(key: string, value: unknown): boolean {
  return value === BAD_STATUS && /status$/i.test(key)
}

function mentionsBad(args: readonly unknown[]): boolean {
  let left = VALUES_MAX
  const look = (value: unknown, depth: number): boolean => {
    left -= 1
    if (left < 0) return false
    if (typeof value === 'string') return IS_BAD.test(value)
    if (typeof value !== 'object' || value === null || depth === 0) return false
    if (value instanceof Map) return [...value].some((entry) => look(entry, depth - 1))
    if (value instanceof Set || Array.isArray(value)) return [...value].some((item) => look(item, depth - 1))
    return Object.entries(value).some(
      ([key, item]) => IS_BAD.test(key) || isBadStatus(key, item) || look(item, depth - 1),
    )
  }
  return args.some((arg) => look(arg, DEPTH_MAX))
}
