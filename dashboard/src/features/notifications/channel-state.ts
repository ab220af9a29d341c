import type { ChannelState } from '../../../../clients/typescript/src/client.ts'
import { textOf } from '../../format/values/known-values.ts'
import type { Tone } from '../../ui/tone.ts'

/** How a channel does, in a few words. */
export function channelWord({ state, last_answer: answer }: ChannelState): {
  readonly tone: Tone
  readonly word: string
} {
  if (state === 'failing') return { tone: 'bad', word: 'Failing' }
  if (state === 'retrying') return { tone: 'warn', word: 'Trying again' }
  if (answer === null) return { tone: 'plain', word: 'Not used yet' }
  // A message about alerts that failed would be tried again, so it was a test.
  return /^2\d\d\b/.test(answer)
    ? { tone: 'good', word: 'Works' }
    : { tone: 'warn', word: 'Last test failed' }
}

export const TYPES: Readonly<Record<ChannelState['type'], string>> = {
  email: 'E-mail',
  slack: 'Slack',
  discord: 'Discord',
  webhook: 'Webhook',
}

export const ALERT_TYPES = [
  { type: 'warning', word: 'Warnings' },
  { type: 'failure', word: 'Failures' },
  { type: 'recovery', word: 'Recoveries' },
  { type: 'limit_warning', word: 'Limit warnings' },
] as const

const EVENTS: Readonly<Record<ChannelState['alert_types'][number], string>> = {
  warning: 'warnings',
  failure: 'failures',
  recovery: 'recoveries',
  limit_warning: 'limit warnings',
}

/** Such as `failures, recoveries`. */
export function toldOf(types: ChannelState['alert_types']): string {
  return types.map((type) => textOf(EVENTS, type)).join(', ')
}
