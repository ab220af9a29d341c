import type { Command } from 'commander'

/** Below the help of a command, by its words from the program on. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  push: [
    `push emails https://example.com/hooks/mail --payload '{"order": 1042}' --wait 60`,
    'push emails https://example.com/hooks/mail --run-at 15m --tag order=1042',
    'push --file jobs.ndjson',
  ],
  jobs: [
    'jobs --status dead_lettered --ended-after 1h',
    'jobs --queue emails --ended-after 2026-12-24T18:00:00+01:00 --ended-before 1h -o wide',
  ],
  job: ['job 4711 --watch'],
  replay: ['replay 4711 --url https://example.com/v2 --timeout 60'],
  'bulk create': [
    'bulk create replay --queue emails --failure-reason timeout --ended-after 1h --rate 50 --wait 10m',
    'bulk create purge --status dead_lettered --ended-before 7d --dry-run',
    'bulk create delete @ids --yes',
  ],
  'queues edit': ['queues edit emails --rate-limit 10/s --retry-delays 10s,1m,1h'],
  'crons create': ['crons create nightly "0 3 * * *" https://example.com/report --zone Europe/Berlin'],
  'crons preview': ['crons preview "30 2 * * *" --zone Europe/Berlin --after 2027-03-27T00:00:00Z'],
  'windows create': [
    'windows create --queue emails --for 2h --reason "moving the target"',
    'windows create --from 2026-12-24T18:00:00+01:00 --until 2026-12-25T06:00:00+01:00 --action hold',
    'windows create --every "0 2 * * SUN" --zone Europe/Berlin --for 4h',
  ],
  stats: ['stats', 'stats emails --after 7d --step 1h'],
  issues: ['issues --state open'],
  'issues mute': ['issues mute 12-9f86d08188 --for 2d'],
  alerts: ['alerts --type failure --read false --after 1d'],
  'alerts mute': ['alerts mute 114112620000000 --for 2h', 'alerts mute --queue emails --until 8h'],
  'alerts delete': ['alerts delete --read true --before 30d'],
  audit: ['audit --resource emails --after 1d'],
  'import cronjobs': ['import cronjobs -n shop > crons.yaml'],
  'tokens create': ['tokens create ci --scope push read --queue emails --until 90d'],
}

/** Adds examples to the help of commands. */
export function addExamples(program: Command): void {
  addBelow(program, '', () => program.name())
}

function addBelow(command: Command, path: string, programName: () => string): void {
  for (const below of command.commands) {
    const words = `${path} ${below.name()}`.trim()
    const examples = EXAMPLES[words]
    if (examples !== undefined) {
      below.addHelpText('after', () =>
        ['', 'Examples:', ...examples.map((line) => `  ${programName()} ${line}`)].join('\n'),
      )
    }
    addBelow(below, words, programName)
  }
}
