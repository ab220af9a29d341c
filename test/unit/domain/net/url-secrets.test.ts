import { describe, expect, test } from 'vitest'
import {
  isSecretHeader,
  secretTextsOf,
  withoutSecretTexts,
} from '../../../../src/domain/secrets/secret-headers.ts'
import { withoutUrlSecrets } from '../../../../src/domain/net/url-secrets.ts'

const shown = (url: string) => withoutUrlSecrets(url, '*')

describe('of a URL is left out', () => {
  test.each([
    ['https://user:secret@example.com:8443/a/b?key=1#x', 'https://example.com:8443/a/b?*'],
    ['https://example.com/a#token=1', 'https://example.com/a'],
    ['https://hooks.slack.com/services/T0AAA/B0BBB/cccc', 'https://hooks.slack.com/*'],
    ['https://hooks.slack.com./services/T0AAA/B0BBB/cccc', 'https://hooks.slack.com./*'],
    ['https://hooks.slack.com.:443/services/T0', 'https://hooks.slack.com.:443/*'],
    ['https://hooks.slack-gov.com/services/T0AAA/B0BBB/cccc', 'https://hooks.slack-gov.com/*'],
    ['https://outlook.office.com/webhook/short', 'https://outlook.office.com/*'],
    ['https://hook.integromat.com/short', 'https://hook.integromat.com/*'],
    ['https://chat.example/hooks/qwertzuiopasdfghjklyxcvbnm', 'https://chat.example/hooks/*'],
    ['https://chat.example/api/Webhook/a/qwertzuiopasdfgh', 'https://chat.example/api/Webhook/a/*'],
    ['https://hooks.zapier.com/hooks/catch/123456/abcde/', 'https://hooks.zapier.com/*'],
    ['https://hook.eu1.make.com/short', 'https://hook.eu1.make.com/*'],
    ['https://acme.webhook.office.com/webhookb2/x', 'https://acme.webhook.office.com/*'],
    ['https://api.telegram.org:443/bot1:AA/sendMessage', 'https://api.telegram.org:443/*'],
    [
      'https://discord.com/api/webhooks/998877665544332211/Zk3-bQ_7xYw9VtR2sLpA',
      'https://discord.com/api/webhooks/998877665544332211/*',
    ],
    ['https://n8n.example/webhook/3f0c52a9-71be-4d2a-9c1e-8b7a6d5e4f30', 'https://n8n.example/webhook/*'],
    ['https://chat.example/hooks/73518264905173846291', 'https://chat.example/hooks/*'],
    ['https://chat.example/hooks/qwjzkxvhpytmga', 'https://chat.example/hooks/*'],
    ['https://chat.example/hooks/QWJZKXVHPYTMGA', 'https://chat.example/hooks/*'],
    ['https://chat.example/hooks/9f86d081884c7d65', 'https://chat.example/hooks/*'],
    ['https://hooks.example.com/9f86d081884c7d65/x', 'https://hooks.example.com/*/x'],
    ['https://example.com/in/7351826490517384629183746/x', 'https://example.com/in/*/x'],
    ['https://example.com/in/qwjzkxvhpytmgafd', 'https://example.com/in/*'],
    ['https://example.com/in/QWJZKXVHPYTMGAFD', 'https://example.com/in/*'],
    ['https://example.com/in/d41d8cd98f00b204e9800998ecf8427e/x', 'https://example.com/in/*/x'],
  ])('%s', (url, expected) => expect(shown(url)).toBe(expected))
})

describe('is left as it is', () => {
  test.each([
    'https://example.com',
    'https://example.com/',
    'http://shop.svc:8080/orders/12345/ship',
    'https://example.com/send-invoice-reminder-v2',
    'https://example.com/order-confirmation-2024',
    'https://example.com/handleOrderConfirmation',
    'https://example.com/handleorderconfirmation',
    'https://example.com/RECHNUNGSERINNERUNG',
    'https://example.com/orders/735182649051738462918374',
    'https://example.com/hooks/998877665544332211',
    'https://example.com/hooks/subscriptions',
    'https://example.com/hooks/9f86d081884c7d6',
    'https://hooks.slack.com',
    'https://myhooks.slack.community/services/T0/B0',
    'https://hooks.slack.com.example/services/T0/B0',
    'https://example.com/hooks/send-invoice-reminder-v2',
    'https://example.com/handleorderconfirmation/hooks/order',
    'no URL at all',
    '/a/path?with=query',
  ])('%s', (url) => expect(shown(url)).toBe(url))
})

test.each([
  'Authorization',
  'cookie',
  'Set-Cookie',
  'Proxy-Authorization',
  'X-Api-Key',
  'x_auth_token',
  'X-Secret-Key',
  'Ocp-Apim-Subscription-Key',
  'X-Functions-Key',
  'DD-APPLICATION-KEY',
  'X-Jwt',
  'X-Passwd',
  'X-Pass',
  'X-Passcode',
  'X-Goog-Iap-Jwt-Assertion',
  'X-Hub-Signature',
  'X-Hub-Signature-256',
  'X-Auth',
  'Client-Secret',
  'PHPSESSIONID',
  'X-Amz-Security-Token',
  'Session-Id',
  'AccessKey',
  'X-Admin-Key',
  'X-License-Key',
  'Key',
  'X-Keys',
  'Authentication',
  'X-PAT',
  'X-OTP',
  'x_totp',
  'X-Login-Pin',
  'X-PSK',
  'X-Signature',
  'X-Twilio-Signature',
])('%s is a secret header', (name) => expect(isSecretHeader(name)).toBe(true))

test('a name that a team masks is a secret header in any case, and only that name', () => {
  const masked = new Set(['x-customer', 'webhook-id'])
  expect(['X-Customer', 'Webhook-Id', 'X-Customers'].map((name) => isSecretHeader(name, masked))).toEqual([
    true,
    true,
    false,
  ])
})

test.each([
  'Accept',
  'Idempotency-Key',
  'X-Author',
  'webhook-id',
  'X-Punctual-Signature',
  'Cookies-Allowed',
  'X-Punctual-Fencing-Token',
  'ETag',
  'X-Key-Id',
  'Tokens-Left',
  'X-Cache-Bypass',
  'X-Compass',
  'Webhook-Signature',
  'Sec-WebSocket-Key',
  'Surrogate-Key',
  'Partition-Key',
  'X-Cache-Key',
  'X-Message-Key',
  'Deduplication-Key',
  'Public-Key',
  'X-Spin',
  'X-Compat',
  'X-Optional',
])('%s is none', (name) => expect(isSecretHeader(name)).toBe(false))

test('the texts of secret headers are their values, what stands behind a scheme, and cookies, the longest first', () => {
  expect(
    secretTextsOf(
      [
        ['Authorization', 'Bearer abcdefgh1234'],
        ['Accept', 'application/json'],
        ['Cookie', 'session=abcdefgh5678; b=2'],
        ['X-Quoted-Token', 'a"b"c\\d"e'],
        ['X-Token', 'short'],
        ['X-Partner', 'of a Secret'],
      ],
      new Set(['x-partner']),
    ),
  ).toEqual([
    'session=abcdefgh5678; b=2',
    'session=abcdefgh5678',
    'Bearer abcdefgh1234',
    String.raw`a\"b\"c\\d\"e`,
    'abcdefgh1234',
    'abcdefgh5678',
    'of a Secret',
    String.raw`a"b"c\d"e`,
  ])
})

describe('a text without secrets', () => {
  const secrets = ['abacabad-secret', 'abacabae']
  const without = (text: string, isCut: boolean) => withoutSecretTexts(text, secrets, { mask: '*', isCut })

  test.each([
    ['x abacabad-secret', 'x *'],
    ['x abacabad-secre', 'x '],
    ['x abacabaabacabad-s', 'x abacaba'],
    ['abacabacabad-', 'abac'],
    ['x abacabac', 'x abac'],
    ['x abacabax', 'x abacabax'],
    ['abacabaeabacaba', '*'],
    ['x', 'x'],
    ['', ''],
  ])('%j is %j where it is cut', (text, expected) => expect(without(text, true)).toBe(expected))

  test('keeps its end where it is whole', () =>
    expect(without('x abacabad-secre', false)).toBe('x abacabad-secre'))

  test('is found in a time that grows with the secret alone', () => {
    const secret = `${'a'.repeat(8191)}b`
    const text = `${'a'.repeat(16_384)}c${'a'.repeat(9)}`
    const many = Array.from({ length: 64 }, () => secret)
    expect(withoutSecretTexts(text, many, { mask: '*', isCut: true })).toBe(text.slice(0, -9))
  })
})
