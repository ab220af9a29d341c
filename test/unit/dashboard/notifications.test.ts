import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import type { ChannelState } from '../../../clients/typescript/src/client.ts'
import { channelWord, toldOf } from '../../../dashboard/src/features/notifications/channel-state.ts'
import { channelYaml } from '../../../dashboard/src/features/notifications/channel-yaml.ts'

function channel(given: Partial<ChannelState>): ChannelState {
  return {
    ...{ channel: 'ops', type: 'slack', alert_types: ['failure'], state: 'ok' },
    ...{ failing_since: null, last_answer: null },
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
  test.each(['slack', 'discord', 'webhook'] as const)('name the key of the Secret for %s', (type) => {
    const [settings, secret] = parseAllDocuments(channelYaml(type)).map(
      (document) => document.toJS() as Record<string, never>,
    )
    expect(settings).toMatchObject({
      spec: {
        notifications: { channels: [{ name: type, secretRef: { name: 'notifications', key: type } }] },
      },
    })
    expect(secret).toMatchObject({ kind: 'Secret', metadata: { name: 'notifications' } })
    expect(Object.keys(secret?.['stringData'] ?? {})).toEqual([type])
  })

  test('have members in place of a Secret for e-mail', () => {
    const documents = parseAllDocuments(channelYaml('email'))
    expect(documents).toHaveLength(1)
    expect(documents[0]?.toJS()).toMatchObject({
      spec: { members: [{ name: 'Ada' }], notifications: { channels: [{ name: 'email', type: 'Email' }] } },
    })
  })
})
