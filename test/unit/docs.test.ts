import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { AUDITED_ACTIONS, AUDITED_KINDS } from '../../src/domain/access/audit-record.ts'
import { endAttempt } from '../../src/domain/jobs/retry-policy.ts'
import { callbackFor } from '../../src/domain/jobs/callback.ts'
import { JobIds } from '../../src/domain/jobs/job-ids.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../src/domain/jobs/queue-settings.ts'
import { LOCAL_NAMES } from '../../src/outbound/egress/special-addresses.ts'
import {
  createShardKeys,
  QUEUE_KEY_WORDS,
  SHARD_KEY_WORDS,
  shardPrefix,
} from '../../src/redis/base/layout/keys.ts'
import { CRON_FINALIZER, QUEUE_FINALIZER } from '../../src/resources/finalizers.ts'
import { CLIENT_VARIABLES, readClientSettings, SERVER_INITIAL } from '../../src/settings/client-settings.ts'
import { ROLE_TABLES } from '../../src/settings/role-settings.ts'
import { flagOf } from '../../src/settings/setting.ts'
import type { AnySetting } from '../../src/settings/setting.ts'
import { SETTINGS } from '../../src/settings/table.ts'
import { jobRequest } from '../support/engine/engine.ts'
import { SERVER, TREES } from '../support/rules/layers.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const pages = globSync(['*.md', 'docs/**/*.md', '.github/**/*.md', 'config/**/*.md', 'crds/**/*.md'], {
  cwd: ROOT,
}).sort()
const settings: readonly AnySetting[] = Object.values(SETTINGS)
const texts = pages.map((page) => ({ page, text: read(page) }))

describe('documents', () => {
  test('something was read', () => {
    expect(pages).toEqual(expect.arrayContaining(['README.md', 'docs/architecture.md', 'docs/glossary.md']))
  })

  test('every relative link leads to a file, and every anchor to a heading', () => {
    expect(texts.flatMap(({ page, text }) => brokenLinks(page, text))).toEqual([])
  })

  test('every variable they name is a setting', () => {
    const known = new Set<string>([
      ...settings.map((one) => one.variable),
      ...Object.values(CLIENT_VARIABLES),
    ])
    const unknown = texts.flatMap(({ page, text }) =>
      [...text.matchAll(/\bPUNCTUAL_[A-Z_]+\b/g)]
        .map(([name]) => name)
        .filter((name) => !known.has(name))
        .map((name) => `${page}: ${name}`),
    )
    expect(unknown).toEqual([])
  })

  test('every line of the log that a reference page quotes is one', () => {
    const sources = globSync('src/**/*.ts', { cwd: ROOT }).map(read).join('\n')
    const isLogged = (line: string) =>
      sources.includes(`'${line}'`) || sources.includes(`\`\${what}${line.replace(/^\w+/, '')}\``)
    const quoted = texts
      .filter(({ page }) => page.startsWith('docs/reference/'))
      .flatMap(({ text }) => [...text.matchAll(/`([A-Z][a-z]* [a-z][\w ]+)`/g)].map(([, line = '']) => line))
    expect(quoted).toContain('A cron cannot be ticked')
    expect(quoted.filter((line) => !isLogged(line))).toEqual([])
  })

  test('no page was left half-written', () => {
    const marks = /\b(?:TODO|TBD|FIXME|XXX|lorem ipsum|coming soon|placeholder)\b/i
    expect(texts.filter(({ text }) => marks.test(text)).map(({ page }) => page)).toEqual([])
  })

  test('no sentence is too long to be read in one go', () => {
    expect(texts.flatMap(({ page, text }) => longSentences(text).map((one) => `${page}: ${one}`))).toEqual([])
  })
})

test('every place that CONTRIBUTING names is there', () => {
  const text = read('CONTRIBUTING.md')
  const named = [...text.matchAll(/`((?:charts|crds|dashboard|docs|scripts|src|test)\/[\w./-]+)`/g)].map(
    ([, path = '']) => path,
  )
  expect(named.length).toBeGreaterThan(60)
  const isThere = (path: string) => existsSync(join(ROOT, path)) || existsSync(join(ROOT, `${path}.ts`))
  expect(named.filter((path) => !isThere(path))).toEqual([])
})

describe('the glossary', () => {
  const rows = [...read('docs/glossary.md').matchAll(/^\| \*\*(.+?)\*\* +\| +(.+?) +\|$/gm)]
  const words = rows.map((row) => row[1] ?? '')

  test('has every word once, in lower case, with a sentence', () => {
    expect(words.length).toBeGreaterThan(40)
    expect(
      words.filter((word, index) => words.indexOf(word) !== index || word !== word.toLowerCase()),
    ).toEqual([])
    expect(rows.filter((row) => !/[.:]$/.test(row[2] ?? '')).map((row) => row[1])).toEqual([])
  })

  test('has the parts of an executor that are started', () => {
    const parts = globSync('src/executor/**/*.ts', { cwd: ROOT })
      .filter((path) => /^ {2}(async )?start\(.*\): .*void/m.test(read(path)))
      .map((path) => basename(path, '.ts').replaceAll('-', ' '))
    expect(parts).toContain('executor session')
    const words = new Set(rows.map((row) => row[1] ?? ''))
    expect(parts.filter((part) => !words.has(part) && !words.has(part.split(' ').at(-1) ?? ''))).toEqual([])
  })

  test('has the words the rest is written with', () => {
    const needed =
      'job chain attempt call queue team shard ring slot lease claim finish beat reap promote pour trim sweep'
    expect(words).toEqual(expect.arrayContaining(needed.split(' ')))
  })
})

describe('lists that must agree', () => {
  test.each(TREES)('CONTRIBUTING has the import table of $root that is held', (tree) => {
    const text = read('CONTRIBUTING.md')
    const [, table = ''] = text.split(`\n| Folder of \`${tree.root}\` `)
    const [rowsText = ''] = table.split('\n\n')
    const rows = [...rowsText.matchAll(/^\| `([a-z-]+)` +\| ([^|]+?) +\|/gm)]
    const written = Object.fromEntries(rows.map((row) => [row[1], row[2]]))
    const held = Object.entries(tree.mayImport).map(([folder, allowed]) => [
      folder,
      allowed.join(', ') || 'nothing',
    ])
    const roots = tree.compositionRoots.map((folder) => [folder, 'everything'])
    expect(written).toEqual(Object.fromEntries([...held, ...roots]))
  })

  const [ofRoles = '', ofClient = ''] = read('docs/reference/settings.md').split('## The client verbs')
  const rowsOf = (text: string) =>
    [...text.matchAll(/^\| `(PUNCTUAL_\w+)` +\| `(--[a-z-]+)` +\| ([^|]+?) +\| ([^|]+?) +\|/gm)].map(
      ([, variable, flag, initial, next]) => [variable, flag, initial?.replaceAll('`', ''), next],
    )

  test('the settings page has every setting with its flag, default and roles', () => {
    const rolesOf = (setting: AnySetting) =>
      Object.entries<Record<string, AnySetting>>(ROLE_TABLES)
        .filter(([, table]) => Object.values(table).includes(setting))
        .map(([role]) => role)
        .join(', ')
    const expected = settings.map((one) => [one.variable, flagOf(one), one.initialText, rolesOf(one)])
    expect(rowsOf(ofRoles)).toEqual(expected)
  })

  test('and from where to where each number may be', () => {
    const ranges = settings.flatMap((one) => {
      const parsed = one.parse('none')
      const [range] = parsed.ok ? [] : (/(?<=from )\w+ to \w+/.exec(parsed.allowed) ?? [])
      return range === undefined ? [] : [[one.variable, range] as const]
    })
    expect(ranges).toContainEqual(['PUNCTUAL_SHARDS', '1 to 64'])
    const rows = ofRoles.split('\n')
    const isTold = (variable: string, range: string) =>
      rows.some((row) => row.startsWith(`| \`${variable}\``) && row.includes(range))
    expect(ranges.filter(([variable, range]) => !isTold(variable, range))).toEqual([])
  })

  test('and what the client verbs read, with the defaults they have', () => {
    const { dataDir, token } = readClientSettings({})
    const initial = {
      server: `that of ${dataDir}, else ${SERVER_INITIAL}`,
      token: token ?? `that of ${dataDir}`,
    }
    expect(rowsOf(ofClient).map((row) => row.slice(0, 3))).toEqual(
      Object.entries(CLIENT_VARIABLES).map(([name, variable]) => [
        variable,
        `--${name}`,
        initial[name as keyof typeof initial],
      ]),
    )
  })

  test('the architecture page names every folder and its rooms', () => {
    const rows = [...read('docs/architecture.md').matchAll(/^\| `([a-z-]+)` +\| [^|]+\| ([^|]*?) +\|$/gm)]
    const written = Object.fromEntries(rows.map((row) => [row[1], row[2]]))
    const layers = [...Object.keys(SERVER.mayImport), ...SERVER.compositionRoots]
    const roomsOf = (layer: string) =>
      globSync(`src/${layer}/*/`, { cwd: ROOT })
        .map((path) => basename(path))
        .filter((room) => room !== 'generated')
    const named = (layer: string) =>
      [...(written[layer] ?? '').matchAll(/`([a-z-]+)`/g)].map(([, room]) => room)
    for (const layer of layers) expect(new Set(named(layer)), layer).toEqual(new Set(roomsOf(layer)))
  })

  test('the architecture page has every key of a shard under its name in code', () => {
    const text = read('docs/architecture.md')
    const rows = [...text.matchAll(/^\| `([^`]+)` +\| `(\w+)` +\| [a-z ]+ \|/gm)]
    const written = Object.fromEntries(rows.map(([, key = '', name = '']) => [name, key]))
    const prefix = shardPrefix(0).length
    const keys = createShardKeys(0)
    const made = {
      teamQueues: keys.teamQueues('<team>'),
      teamCrons: keys.teamCrons('<team>'),
      alertRecords: keys.alertRecords('<team>'),
      alertOrder: keys.alertOrder('<team>'),
      alertTotals: keys.alertTotals('<team>'),
      alertCounts: keys.alertCounts('<team>'),
      issues: keys.issues('<team>'),
      auditLog: keys.auditLog('<team>'),
      auditCounts: keys.auditCounts('<team>'),
      auditAsked: keys.auditAsked('<team>'),
      deedLog: keys.deedLog('<team>'),
      deedCounts: keys.deedCounts('<team>'),
      deedAsked: keys.deedAsked('<team>'),
      sessionLog: keys.sessionLog('<team>'),
      sessionCounts: keys.sessionCounts('<team>'),
      sessionAsked: keys.sessionAsked('<team>'),
      tokenRate: keys.tokenRate('<token>'),
      bulks: keys.bulks('<team>'),
      bulkPart: keys.bulkPart('<bulk>'),
      bulkFailures: keys.bulkFailures('<bulk>'),
      bulkJobs: keys.bulkJobs('<bulk>'),
      bulkWaiting: keys.bulkWaiting('<bulk>'),
      channelStates: keys.channelStates('<team>'),
      deliveryLog: keys.deliveryLog('<team>'),
      cronRecords: keys.cronRecords('<id>'),
      heldJobs: keys.heldJobs('<executor>'),
      pushedBucket: keys.pushedBucket('0').replace(/0$/, '<n>'),
      minuteBucket: keys.minuteBucket(0).replace(/0$/, '<minute>'),
      jobIndex: keys.jobIndex(0).replace(/0$/, '<block>'),
      intakeMark: keys.intakeMark('<intake>'),
      settledTallies: keys.settledTallies('<owner>'),
      idempotencyKeys: keys.idempotencyKeys(0).replace(/0$/, '<day>'),
    }
    const inShard = Object.entries(made).map(([name, key]) => [name, key.slice(prefix)])
    expect(written).toEqual({ ...SHARD_KEY_WORDS, ...QUEUE_KEY_WORDS, ...Object.fromEntries(inShard) })
  })

  test('the page of the dashboard names operations that there are', () => {
    const { paths } = parse(read('openapi.yaml')) as { paths: Record<string, Record<string, unknown>> }
    const named = [...read('docs/dashboard.md').matchAll(/`([A-Z]+) (\/api\/[^`]+)`/g)]
    expect(named.length).toBeGreaterThan(40)
    const isThere = (method: string, path: string) => paths[path]?.[method.toLowerCase()] !== undefined
    expect(named.filter(([, method = '', path = '']) => !isThere(method, path)).map(([one]) => one)).toEqual(
      [],
    )
  })

  test('the page of the audit log has every kind and every action', () => {
    const rows = [
      ...read('docs/reference/audit.md').matchAll(/^\| `([a-z]+)` +\| (`[a-z]+`(?:, `[a-z]+`)*)/gm),
    ]
    const actions = rows.flatMap(([, , list = '']) => [...list.matchAll(/`([a-z]+)`/g)].map(([, one]) => one))
    expect(new Set(rows.map(([, kind]) => kind))).toEqual(new Set(AUDITED_KINDS))
    expect(new Set(actions)).toEqual(new Set(AUDITED_ACTIONS))
  })

  test('the egress page names every name that is closed by itself', () => {
    const closed = /^Closed unless opened:.*$/m.exec(read('docs/reference/egress.md'))?.[0] ?? ''
    const below = (name: string) => LOCAL_NAMES.some((one) => name.endsWith(`.${one}`))
    expect(LOCAL_NAMES.filter((name) => !below(name) && !closed.includes(`\`${name}\``))).toEqual([])
  })

  test('the page of the API shows a callback as it is sent', () => {
    const page = read('docs/reference/api.md')
    const section = page.slice(page.indexOf('\n## Callbacks\n'), page.indexOf('\n## List jobs\n'))
    const shown = JSON.parse(/```json\n(.*?)```/s.exec(section)?.[1] ?? '') as Record<string, unknown>
    const jobIds = new JobIds(4, '0a1b2c3d4e5f')
    const settings = { ...DEFAULT_QUEUE_SETTINGS, retryDelays: [1] }
    const times = { createdAtMs: 0, scheduledAtMs: 0, startedAtMs: 0 }
    const outcome = {
      completedAtMs: Date.parse(String(shown['completed_at'])),
      durationMs: Number(shown['duration_ms']),
      responseStatus: Number(shown['response_status']),
      failureReason: 'http_server_error',
      errorMessage: String(shown['error_message']),
    } as const
    const end = endAttempt({ attempt: 4, earlier: [], settings, ...times }, outcome)
    const request = jobRequest({ callbackUrl: 'http://caller.test/' })
    const sent = callbackFor({ rootId: 4711, attempt: 4, request, events: 'terminal', end, jobIds })
    expect(Object.entries(shown)).toEqual(Object.entries(JSON.parse(sent?.body ?? '') as object))
  })

  test('the uninstall page names every kind that a finalizer holds, in its order and in its way out', () => {
    const page = read('docs/install.md')
    const uninstall = page.slice(page.indexOf('\n## Uninstall\n'), page.indexOf('\n## Values\n'))
    const held = { httpcrons: CRON_FINALIZER, httpqueues: QUEUE_FINALIZER }
    for (const [kind, finalizer] of Object.entries(held)) {
      expect(uninstall).toContain(finalizer)
      expect(uninstall).toContain(`kubectl delete ${kind} --all --all-namespaces`)
    }
    expect(uninstall).toContain(`for kind in ${Object.keys(held).join(' ')}; do`)
  })

  test('every decision has its status, and says why, what and what follows', () => {
    const shape =
      /^# \d{4}: .+\n\nStatus: \w+, \d{4}-\d\d-\d\d\n\n## Context\n.*\n## Decision\n.*\n## Consequences\n/s
    const files = globSync('docs/adr/*.md', { cwd: ROOT })
    expect(files.filter((path) => !shape.test(read(path)))).toEqual([])
  })

  test('the index has every reference page and every decision, numbered without gaps', () => {
    const files = globSync('docs/adr/*.md', { cwd: ROOT })
      .map((path) => path.slice('docs/'.length))
      .sort()
    expect(files.map((path) => Number(path.slice('adr/'.length, 'adr/0000'.length)))).toEqual(
      files.map((_, index) => index + 1),
    )
    const index = read('docs/README.md')
    const references = globSync('docs/reference/*.md', { cwd: ROOT }).map((path) =>
      path.slice('docs/'.length),
    )
    expect([...files, ...references].filter((path) => !index.includes(`(${path})`))).toEqual([])
  })

  test('what is settled on day one are values that there are, and every section about one is named', () => {
    const page = read('docs/install.md')
    const [, table = ''] = /^## On day one\n(.*?)^## /ms.exec(page) ?? []
    const values = parse(read('charts/punctual/values.yaml')) as Readonly<Record<string, unknown>>
    const named = [...table.matchAll(/`([\w.*]+)`/g)].map(([, name = '']) => name.replace('*', 'controller'))
    expect(named.length).toBeGreaterThan(20)
    const valueOf = (name: string) =>
      name
        .split('.')
        .reduce<unknown>((map, key) => (map as Record<string, unknown> | undefined)?.[key], values)
    expect(named.filter((name) => valueOf(name) === undefined)).toEqual([])
    const [, sections = ''] = /^## With Helm\n(.*?)^## With plain/ms.exec(page) ?? []
    const anchors = [...sections.matchAll(/^### (.*)$/gm)].map(([, text = '']) =>
      text.toLowerCase().replaceAll(' ', '-'),
    )
    expect(anchors.filter((anchor) => !table.includes(`(#${anchor})`))).toEqual([])
  })
})

test('a broken link or anchor is found', () => {
  expect(
    brokenLinks(
      'README.md',
      '[a](nowhere.md) [b](docs/glossary.md#nothing) [c](docs/glossary.md#the-engine)',
    ),
  ).toEqual(['README.md: nowhere.md', 'README.md: docs/glossary.md#nothing'])
})

test('a long sentence is found in a paragraph, a list and a cell, and not across them', () => {
  const words = (count: number) => `Word${' word'.repeat(count - 1)}`
  const [long, short] = [`${words(SENTENCE_WORDS_MAX + 1)}.`, `${words(SENTENCE_WORDS_MAX)}.`]
  expect(longSentences(`A short one. [${long}](there.md)\n\n- ${long}\n\n| ${short} | ${long} |`)).toEqual([
    long,
    long,
    long,
  ])
  expect(longSentences(`${short} ${short}\n- ${short}\n\n\`\`\`sh\n${long}\n\`\`\`\n`)).toEqual([])
})

const SENTENCE_WORDS_MAX = 44

function longSentences(text: string): string[] {
  return text
    .replaceAll(/```.*?```/gs, '')
    .split('\n')
    .filter((line) => !line.startsWith('<!--'))
    .flatMap((line) => (line.startsWith('|') ? line.split('|') : [line]))
    .map((part) =>
      part
        .trim()
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .replace(/^[-*\d.\s>#]+/, ''),
    )
    .flatMap((part) => part.split(/(?<=[.:;!?])\s+(?=[A-Z`"*])/))
    .filter((sentence) => sentence.split(/\s+/).length > SENTENCE_WORDS_MAX)
}

function brokenLinks(page: string, text: string): string[] {
  const prose = text.replaceAll(/^```.*?^```/gms, '').replaceAll(/`[^`\n]*`/g, '')
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map((match) => match[1] ?? '')
    .filter((link) => !/^[a-z]+:/.test(link) && !leadsSomewhere(page, link))
    .map((link) => `${page}: ${link}`)
}

function leadsSomewhere(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#')
  const target = path === '' ? page : join(dirname(page), path)
  if (!existsSync(join(ROOT, target))) return false
  return anchor === undefined || headingsOf(read(target)).includes(anchor)
}

/** Anchors as GitHub makes them. */
function headingsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map((match) =>
    (match[1] ?? '')
      .toLowerCase()
      .replaceAll(/[^\p{Letter}\p{Number} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}
