import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import type { ChannelState } from '../../../clients/typescript/src/client.ts'
import { channelWord, toldOf } from '../../../dashboard/src/features/notifications/channel-state.ts'
import { CHANNELS_YAML } from '../../../dashboard/src/features/notifications/channels-yaml.ts'

function channel(given: Partial<ChannelState>): ChannelState {
  return {
    channel: 'ops',
    type: 'slack',
    alert_types: ['failure'],
    state: 'ok',
    failing_since: null,
    last_answer: null,
    ...given,
  }
}

describe('the state of a channel', () => {
  test.each([
    ['Not used yet', {}],
    ['Works', { last_answer: '200 ok' }],
    ['Works', { last_answer: '204' }],
    ['Last test failed', { last_answer: '404 no_service' }],
    ['Last test failed', { last_answer: 'getaddrinfo ENOTFOUND 200.example.com' }],
    ['Trying again', { state: 'retrying', last_answer: '503' }],
    ['Failing', { state: 'failing', last_answer: '200 ok' }],
  ] as const)('%s, for %j', (word, given) => {
    expect(channelWord(channel(given)).word).toBe(word)
  })

  test('says what it is told of', () => {
    expect(toldOf(['failure', 'limit_warning'])).toBe('failures, limit warnings')
  })
})

describe('the settings to copy', () => {
  test('have a URL in the Secret for each channel that needs one', () => {
    const [settings, secret] = parseAllDocuments(CHANNELS_YAML).map(
      (document) =>
        document.toJS() as { spec: { notifications: { channels: Channel[] } }; stringData: object },
    )
    const channels = settings?.spec.notifications.channels ?? []
    expect(channels.map(({ type }) => type)).toEqual(['Email', 'Slack'])
    const keys = channels.flatMap(({ secretRef }) => secretRef?.key ?? [])
    expect(Object.keys(secret?.stringData ?? {})).toEqual(keys)
  })
})

interface Channel {
  readonly type: string
  readonly secretRef?: { readonly name: string; readonly key: string }
}
