import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { discordMessage } from '../../../src/senders/messages/discord-message.ts'
import { messageOf } from '../../../src/senders/messages/message.ts'
import { slackMessage } from '../../../src/senders/messages/slack-message.ts'
import type { Notification } from '../../../src/ports/notifications.ts'
import { anAlert, aNotification, anEntry } from '../../support/notifications.ts'
import { discordProblem, slackProblem } from '../../support/targets/chat-targets.ts'
import { GROWING, largestNotification, nastyNotification } from './nasty-text.ts'

interface SlackBody {
  readonly text: string
  readonly mrkdwn: boolean
  readonly blocks: ReadonlyArray<{
    readonly type: string
    readonly text?: { readonly type: string; readonly text: string; readonly emoji: boolean }
    readonly elements?: ReadonlyArray<{ readonly type: string; readonly text: string }>
  }>
}

interface DiscordBody {
  readonly content?: string
  readonly embeds: ReadonlyArray<{ readonly title: string; readonly description: string }>
  readonly allowed_mentions: { readonly parse: readonly string[] }
}

const slack = (notification: Notification) => slackMessage(messageOf(notification, 'ops'))
const slackBody = (notification: Notification) => JSON.parse(slack(notification)) as SlackBody
const discord = (notification: Notification) => discordMessage(messageOf(notification, 'ops'))
const discordBody = (notification: Notification) => JSON.parse(discord(notification)) as DiscordBody
const textsOf = ({ blocks }: SlackBody) =>
  blocks.flatMap(({ text, elements = [] }) => [...(text === undefined ? [] : [text]), ...elements])

/** The digits of "… and N more". */
const leftOut = (text: string | undefined) => Number(/… and ([0-9]+) more$/.exec(text ?? '')?.[1])

/** As Slack shows a text in which it looks for no markup. */
const decoded = (text: string) =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')

const RUNS = { numRuns: 150 }

test('one alert says what, where, why and when', () => {
  expect(slackBody(aNotification())).toEqual({
    text: expect.stringContaining('Failure: queue "emails" (timeout)') as string,
    mrkdwn: false,
    blocks: [
      {
        type: 'header',
        text: { type: 'plain_text', text: 'Failure: queue "emails" (timeout)', emoji: false },
      },
      {
        type: 'section',
        text: {
          type: 'plain_text',
          text: [
            'POST to example.com failed after 3 attempts: no answer within 30 s.',
            'At 2026-11-22 22:10:02 UTC',
            'Team acme · job 815 · alert 4711',
          ].join('\n'),
          emoji: false,
        },
      },
    ],
  })
})

test('several alerts have a heading each, and count', () => {
  const recovery = anAlert({
    type: 'recovery',
    reason: 'http_server_error',
    resource: { kind: 'cron', id: 3, name: 'Nightly <report>' },
    jobId: null,
  })
  const entries = [anEntry({ count: 37, isReply: true }), anEntry({ alert: recovery })]
  const { embeds, allowed_mentions } = discordBody(aNotification({ entries, moreEntries: 5, alerts: 100 }))
  expect(allowed_mentions).toEqual({ parse: [] })
  expect(embeds[0]?.title).toBe('100 alerts of team acme')
  expect(embeds[0]?.description.split('\n')).toEqual([
    '**Failure: queue "emails" (timeout)**',
    'POST to example.com failed after 3 attempts: no answer within 30 s.',
    '37 times since the last message, last at 2026-11-22 22:10:02 UTC',
    'Team acme · job 815 · alert 4711',
    '',
    '**Recovery: cron "Nightly \\<report>" (after http server error)**',
    'POST to example.com failed after 3 attempts: no answer within 30 s.',
    'At 2026-11-22 22:10:02 UTC',
    'Team acme · alert 4711',
    '',
    '… and 5 more',
  ])
})

test('a test says so', () => {
  const notification = aNotification({ kind: 'test', entries: [], alerts: 0 })
  expect(slack(notification)).toContain('Channel ops of team acme works.')
  expect(slackProblem(slack(notification))).toBeNull()
  expect(discord(notification)).toContain('Channel ops of team acme works.')
  expect(discordProblem(discord(notification))).toBeNull()
})

describe.each(GROWING)('as much as there can be, of %s', (character) => {
  const notification = largestNotification(character)

  test('fits Slack, and the rest is counted', () => {
    const body = slack(notification)
    expect(slackProblem(body)).toBeNull()
    const texts = textsOf(JSON.parse(body) as SlackBody)
    const shown = texts.length - 2
    expect(shown).toBeGreaterThan(0)
    expect(leftOut(texts.at(-1)?.text)).toBe(1_000_000 + 20 - shown)
  })

  test('fits Discord, and the rest is counted', () => {
    const body = discord(notification)
    expect(discordProblem(body)).toBeNull()
    const description = (JSON.parse(body) as DiscordBody).embeds[0]?.description
    const shown = description?.match(/^\*\*Failure/gm)?.length ?? 0
    expect(shown).toBeGreaterThan(0)
    expect(leftOut(description)).toBe(1_000_000 + 20 - shown)
  })
})

test('Slack finds no markup and no mention in what others wrote', () => {
  fc.assert(
    fc.property(nastyNotification, (notification) => {
      const body = slackBody(notification)
      expect(slackProblem(JSON.stringify(body))).toBeNull()
      expect(body.mrkdwn).toBe(false)
      for (const { type, text } of textsOf(body)) {
        expect(type).toBe('plain_text')
        expect(text.replace(/&(?:amp|lt|gt);/g, '')).not.toMatch(/[<>&]/)
        expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u)
      }
      expect(body.text.replace(/&(?:amp|lt|gt);/g, '')).not.toMatch(/[<>&*`~@#[\]|\\]|:\/\//)
    }),
    RUNS,
  )
})

test('Slack shows the text itself', () => {
  const message = 'a < b && c > d: *not bold* &amp; <!channel>'
  const body = slackBody(aNotification({ entries: [anEntry({ alert: anAlert({ message }) })] }))
  expect(decoded(body.blocks[1]?.text?.text ?? '').split('\n')[0]).toBe(message)
})

test('Discord finds no markup and no mention in what others wrote', () => {
  fc.assert(
    fc.property(nastyNotification, (notification) => {
      const body = discord(notification)
      expect(discordProblem(body)).toBeNull()
      const { content, embeds, allowed_mentions } = JSON.parse(body) as DiscordBody
      expect(content).toBeUndefined()
      expect(allowed_mentions.parse).toEqual([])
      const [{ title, description } = { title: '', description: '' }] = embeds
      // Our own markup: headings between two pairs of stars.
      const lines = [title, ...description.split('\n').map((line) => line.replace(/^\*\*(.+)\*\*$/, '$1'))]
      for (const line of lines) {
        const bare = line.replace(/\\[^a-zA-Z0-9\s]/g, 'x ')
        expect(bare).not.toMatch(
          /[\\*_~`|<[\]]|:\/\/|@(?!\u200b)|(?<![0-9]):[\w+-]+:|:[a-z_+-][\w+-]*:|^[-+>#]|^[0-9]+[.)]/i,
        )
      }
    }),
    RUNS,
  )
})

test('Discord shows the text itself', () => {
  const message = 'a_b *c* (d) <@1> #e \\ https://f.example'
  const { embeds } = discordBody(aNotification({ entries: [anEntry({ alert: anAlert({ message }) })] }))
  const [line = ''] = embeds[0]?.description.split('\n') ?? []
  expect(line.replace(/\\(.)/g, '$1').replaceAll('\u200b', '')).toBe(message)
})
