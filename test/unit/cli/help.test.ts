import { expect, test } from 'vitest'
import { useApi } from './cli-fixture.ts'

const api = useApi()

const COMMANDS = [
  'push',
  'jobs',
  'job',
  'replay',
  'bulk create',
  'queues edit',
  'crons create',
  'crons preview',
  'windows create',
  'stats',
  'issues',
  'issues mute',
  'alerts',
  'alerts mute',
  'alerts delete',
  'audit',
  'tokens create',
]

/** The words of an example, quoted as for a shell. */
function wordsOf(line: string): string[] {
  return (line.match(/'[^']*'|"[^"]*"|[^ ]+/g) ?? []).map((word) => word.replaceAll(/^['"]|['"]$/g, ''))
}

test.each(COMMANDS)('the help of %s has examples, which are commands of this program', async (command) => {
  const { out } = await api.run([...command.split(' '), '--help'])
  const examples = out.split('\nExamples:\n')[1]?.trim().split('\n') ?? []
  expect(examples.length).toBeGreaterThan(0)
  for (const example of examples) {
    const [program, ...words] = wordsOf(example.trim())
    expect(program).toBe('punctual')
    expect(words.slice(0, command.split(' ').length).join(' ')).toBe(command)
    api.answer = { status: 403, body: '{"error":"reached"}' }
    const ran = await api.run(words.map((word) => (word.startsWith('@') ? '16' : word)))
    // Files of examples are not there; all else gets as far as the API.
    expect(ran.err).toMatch(/reached|jobs\.ndjson|no terminal to ask/)
  }
})

test('every option that takes a time says so in the same words', async () => {
  for (const command of ['jobs', 'alerts list', 'audit', 'stats', 'bulk create']) {
    const text = (await api.run([...command.split(' '), '--help'])).out.replaceAll(/\s+/g, ' ')
    expect(text).toContain('such as 2026-12-24T18:00:00+01:00, or 1h for an hour ago')
    expect(text).not.toMatch(/--(?:since|expires-in|expires-at) /)
  }
  for (const command of ['push', 'windows create', 'tokens create', 'crons preview']) {
    const text = (await api.run([...command.split(' '), '--help'])).out.replaceAll(/\s+/g, ' ')
    expect(text).toContain('such as 2026-12-24T18:00:00+01:00, or 2h for two hours from now')
  }
})
