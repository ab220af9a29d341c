/** The commands of docs/install.md that replace the key, with a kubectl that notes what it is asked for. */
import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const page = readFileSync(new URL('../../../../docs/install.md', import.meta.url), 'utf8')
const block = /^#### Replace the key$.*?^```sh\n(.*?)^```$/ms.exec(page)?.[1] ?? ''

const KUBECTL = `#!/bin/sh
echo "$*" >> "$FOLDER/asked"
case "$*" in
  *"get secret"*"$UNREADABLE"*) exit 1 ;;
  *"data.secrets-key}") printf b2xk ;;
  *"data.other-secrets-keys}") printf %s "$OTHERS" ;;
  *" doctor "*) [ "$(grep -c " doctor " "$FOLDER/asked")" -ge "$CONTENT_AT" ] ;;
  *"status deployment punctual-executor"*) [ "$STUCK" = "" ] ;;
esac
`

const DEFAULTS = { CONTENT_AT: '1', STUCK: '', OTHERS: '', UNREADABLE: 'nothing' }

async function run(env: Readonly<Record<string, string>>): Promise<{ patches: string[]; looks: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'punctual-key-'))
  const programs = { kubectl: KUBECTL, sleep: '#!/bin/sh\n', openssl: '#!/bin/sh\necho new\n' }
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(folder, name), text)
    chmodSync(join(folder, name), 0o755)
  }
  const path = `${folder}:${process.env['PATH'] ?? ''}`
  await new Promise<void>((resolve) => {
    execFile('bash', ['-c', block], { env: { PATH: path, FOLDER: folder, ...DEFAULTS, ...env } }, () =>
      resolve(),
    )
  })
  const asked = readFileSync(join(folder, 'asked'), 'utf8').split('\n')
  rmSync(folder, { recursive: true, force: true })
  const patches = asked.flatMap((line) => /stringData":(.*)}$/.exec(line)?.[1] ?? [])
  return { patches, looks: asked.filter((line) => line.includes(' doctor ')).length }
}

const [FIRST, SECOND, THIRD] = [
  '{"secrets-key":"old","other-secrets-keys":"new"}',
  '{"secrets-key":"new","other-secrets-keys":"old"}',
  '{"secrets-key":"new","other-secrets-keys":""}',
] as const

test('take the old key away only once the doctor is content', async () => {
  expect(await run({ CONTENT_AT: '3' })).toEqual({ patches: [FIRST, SECOND, THIRD], looks: 3 })
})

test('stop before that when the doctor is never content', async () => {
  expect(await run({ CONTENT_AT: '99' })).toEqual({ patches: [FIRST, SECOND], looks: 24 })
})

test('stop when pods do not become ready', async () => {
  expect(await run({ STUCK: 'yes' })).toEqual({ patches: [FIRST], looks: 0 })
})

test.each(['.secrets-key', '.other-secrets-keys'])('change nothing when %s cannot be read', async (name) => {
  expect(await run({ UNREADABLE: name })).toEqual({ patches: [], looks: 0 })
})

test('change nothing when pasted again while a replacement is under way', async () => {
  const OTHERS = Buffer.from('former').toString('base64')
  expect(await run({ OTHERS })).toEqual({ patches: [], looks: 0 })
})
