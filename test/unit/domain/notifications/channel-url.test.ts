import { expect, test } from 'vitest'
import { channelUrlProblem } from '../../../../src/domain/notifications/channel-url.ts'

const SECRET = 'qq7SECRETqq7'

test.each([
  ['slack', `https://hooks.slack.com/services/T0/B0/${SECRET}`],
  ['slack', `https://hooks.slack-gov.com/services/T0/B0/${SECRET}`],
  ['slack', `HTTPS://HOOKS.SLACK.COM./services/T0/B0/${SECRET}`],
  ['discord', `https://discord.com/api/webhooks/12/${SECRET}`],
  ['discord', `https://discord.com/api/v10/webhooks/12/${SECRET}?thread_id=5`],
  ['discord', `https://discordapp.com/api/webhooks/12/${SECRET}`],
  ['discord', `https://ptb.discord.com/api/webhooks/12/${SECRET}`],
  ['discord', `https://canary.discord.com/api/webhooks/12/${SECRET}`],
  ['webhook', `https://example.com/${SECRET}?token=${SECRET}`],
  ['webhook', `http://example.com:8080/`],
] as const)('%s may have %s', (type, url) => {
  expect(channelUrlProblem(type, url, [])).toBeNull()
})

test.each([
  ['slack', '', 'be valid'],
  ['slack', SECRET, 'be valid'],
  ['slack', `https://hooks.slack.com/services/T0/B0/${SECRET}\n`, 'be valid'],
  ['webhook', `ftp://example.com/${SECRET}`, 'https://'],
  ['webhook', `https://example.com/${'a'.repeat(2048)}${SECRET}`, '2048'],
  ['webhook', `https://user:${SECRET}@example.com/`, 'user name'],
  ['webhook', `https://a..example.com/${SECRET}`, 'no valid host'],
  ['webhook', `https://example.com:0/${SECRET}`, 'port 0'],
  ['slack', `http://hooks.slack.com/services/T0/B0/${SECRET}`, 'https://'],
  ['slack', `https://hooks.slack.com/workflows/T0/B0/${SECRET}`, '/services/'],
  ['slack', `https://hooks.slack.com.example.com/services/T0/${SECRET}`, 'hooks.slack.com'],
  ['slack', `https://evil-hooks.slack.com/services/T0/${SECRET}`, 'hooks.slack.com'],
  ['slack', `https://discord.com/api/webhooks/12/${SECRET}/slack`, 'hooks.slack.com'],
  ['discord', `https://hooks.slack.com/services/T0/B0/${SECRET}`, 'discord.com'],
  ['discord', `https://discord.com/api/webhooks/12/${SECRET}/slack`, '/api/webhooks/'],
  ['discord', `https://discord.com/channels/12/${SECRET}`, '/api/webhooks/'],
  ['slack', `http://127.0.0.1:8065/hooks/${SECRET}`, 'egress.allow'],
] as const)('%s may not have %s', (type, url, expected) => {
  const problem = channelUrlProblem(type, url, [])
  expect(problem).toContain(expected)
  expect(problem).not.toContain(SECRET)
})

test.each([
  ['a suffix', 'http://chat.example.com/hooks/x', ['example.com']],
  ['an address', 'http://127.0.0.1:8065/hooks/x', ['127.0.0.0/8']],
  ['an IPv6 address', 'http://[::1]:8065/hooks/x', ['::1']],
])('a host that the team opened by %s may speak for a chat service', (_how, url, egressAllow) => {
  for (const type of ['slack', 'discord'] as const) {
    expect(channelUrlProblem(type, url, egressAllow)).toBeNull()
    expect(channelUrlProblem(type, url, ['other.test', '10.0.0.0/8'])).not.toBeNull()
  }
})
