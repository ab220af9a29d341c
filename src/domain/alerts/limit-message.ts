import { QUOTA_NOUNS, type QuotaName } from '../quotas.ts'
import type { LimitReason } from './alert.ts'

/** Facts of a limit warning, in the order of `queueLimitFacts`, `storageFacts` and `quotaFacts` of the rules. */
type Facts = ReadonlyArray<string | number>

/** A sentence for people. Facts that are missing count as 0. @param name of the queue or the team */
export function limitMessage(name: string, reason: LimitReason, facts: Facts): string {
  const [first = 0, second = 0, third = 0] = facts.map(Number)
  switch (reason) {
    case 'queue_saturated':
      return (
        `Queue ${name} is at its limit of ${counted(first, 'parallel call')}: ` +
        `${counted(second, 'job')} ${second === 1 ? 'waits' : 'wait'}, the oldest for ${durationText(third)}.`
      )
    case 'dead_letters_growing':
      return `Queue ${name} got ${counted(first, 'dead letter')} within an hour.`
    case 'dead_letters_expiring': {
      const them = first === 1 ? 'it' : 'them'
      return `${counted(first, 'dead letter')} of queue ${name} will be purged within 24 hours: replay ${them} before.`
    }
    case 'storage_nearly_full':
      return `The job store is ${percent(first, second)} full; from about 90% on it takes no new jobs.`
    case 'quota_nearly_used':
      return `Team ${name} has used ${quotaTexts(facts).join(', ')}.`
  }
}

/** @param facts name, used and limit of each quota */
function quotaTexts(facts: Facts): string[] {
  return Array.from({ length: Math.floor(facts.length / 3) }, (_, nth) => {
    const [name, used, limit] = facts.slice(nth * 3, nth * 3 + 3)
    const noun = QUOTA_NOUNS[name as QuotaName] ?? name
    const amount = `${whole(Number(used))} of ${whole(Number(limit))}`
    return `${percent(Number(used), Number(limit))} of its quota of ${noun} (${name}: ${amount})`
  })
}

function counted(count: number, noun: string): string {
  return `${whole(count)} ${noun}${count === 1 ? '' : 's'}`
}

function whole(value: number): string {
  return value.toLocaleString('en-US')
}

/** Rounded down: 99.9% is not all. */
function percent(used: number, of: number): string {
  return of === 0 ? 'all' : `${Math.floor((used * 100) / of)}%`
}

const MINUTE_MS = 60_000

/** The largest whole unit. */
function durationText(ms: number): string {
  const minutes = Math.floor(ms / MINUTE_MS)
  if (minutes < 120) return counted(minutes, 'minute')
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? counted(hours, 'hour') : counted(Math.floor(hours / 24), 'day')
}
