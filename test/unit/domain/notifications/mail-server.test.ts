import { expect, test } from 'vitest'
import {
  isMailAddress,
  parseMailAddress,
  parseMailServer,
} from '../../../../src/domain/notifications/mail-server.ts'

const login = { user: 'ada@example.com', password: 'p@ss:w/rd#é' }
const escaped = `${encodeURIComponent(login.user)}:${encodeURIComponent(login.password)}`

test.each([
  ['smtp://mail.example.com', { host: 'mail.example.com', port: 587, isTlsFromStart: false, login: null }],
  ['smtp://mail:25/', { host: 'mail', port: 25, isTlsFromStart: false, login: null }],
  ['SMTPS://mail.example.com', { host: 'mail.example.com', port: 465, isTlsFromStart: true, login: null }],
  ['smtp://[::1]:2525', { host: '::1', port: 2525, isTlsFromStart: false, login: null }],
  [`smtps://${escaped}@10.0.0.9`, { host: '10.0.0.9', port: 465, isTlsFromStart: true, login }],
])('%s is a mail server', (text, expected) => {
  expect(parseMailServer(text)).toEqual(expected)
})

test.each([
  '',
  'mail.example.com',
  'http://mail.example.com',
  'smtp://',
  'smtp://mail.example.com:0',
  'smtp://mail.example.com:70000',
  'smtp://mail.example.com/inbox',
  'smtp://mail.example.com?tls=no',
  'smtp://user:p#ss@mail.example.com',
  'smtp://user@mail.example.com',
  'smtp://:secret@mail.example.com',
  'smtp://user:%ff@mail.example.com',
  'smtp://user:a%0d%0aQUIT@mail.example.com',
  'smtp://mail%2eexample.com',
  'smtp://mail..example.com',
  'smtp://mail.example.com\n',
])('%j is none', (text) => {
  expect(parseMailServer(text)).toBeNull()
})

test.each([
  ['alerts@example.com', { name: null, address: 'alerts@example.com' }],
  ['Punctual <alerts@example.com>', { name: 'Punctual', address: 'alerts@example.com' }],
  ['"Punctual, Inc." <a@b>', { name: 'Punctual, Inc.', address: 'a@b' }],
  ['<a@b>', { name: null, address: 'a@b' }],
])('%s is a sender', (text, expected) => {
  expect(parseMailAddress(text)).toEqual(expected)
})

test.each([
  '',
  'Punctual',
  'Punctual <alerts>',
  'a@b, c@d',
  'X\r\nBcc: c@d <a@b>',
  '<a@b> <c@d>',
  `${'n'.repeat(129)} <a@b>`,
])('%j is none as well', (text) => {
  expect(parseMailAddress(text)).toBeNull()
})

test.each([
  'a.b+c@example.com',
  "o'brien@localhost",
  `${'a'.repeat(64)}@example.com`,
  `a@${'b'.repeat(63)}.example`,
])('%s is an address', (address) => {
  expect(isMailAddress(address)).toBe(true)
})

test.each([
  '@example.com',
  'ada@',
  'ada@-example.com',
  'ada@example..com',
  '.ada@example.com',
  '"a b"@example.com',
  'a@b\r\n',
  'a b@c',
  'a<b>@c',
  'a,b@c',
  'ä@example.com',
  `${'a'.repeat(65)}@example.com`,
])('%j is not', (address) => {
  expect(isMailAddress(address)).toBe(false)
})
