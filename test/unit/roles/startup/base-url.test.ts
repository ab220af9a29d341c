import { expect, test } from 'vitest'
import { baseUrl, localHost } from '../../../../src/roles/startup/base-url.ts'

test.each([
  ['127.0.0.1', 'http://127.0.0.1:80', 'http://127.0.0.1:80'],
  ['0.0.0.0', 'http://0.0.0.0:80', 'http://127.0.0.1:80'],
  ['::', 'http://[::]:80', 'http://[::1]:80'],
  ['*', 'http://*:80', 'http://127.0.0.1:80'],
  ['fd00::7', 'http://[fd00::7]:80', 'http://[fd00::7]:80'],
  ['mine.example', 'http://mine.example:80', 'http://mine.example:80'],
])('%s is told as %s and called at %s', (host, told, called) => {
  expect([baseUrl(host, 80), baseUrl(localHost(host), 80)]).toEqual([told, called])
})
