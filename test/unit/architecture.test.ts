import { globSync, readFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { TREES } from '../support/rules/layers.ts'
import { spreadLiterals } from '../support/rules/literal-rules.ts'
import { FILE_LINES_MAX, scan } from '../support/rules/source-rules.ts'
import {
  circlesOfFiles,
  circlesOfFolders,
  crowdedFolders,
  drawingOf,
  FILE_LINES_P90_MAX,
  FILES_PER_FOLDER_MAX,
  percentile,
  REDIS_BOXES_MAX,
  REDIS_FLOORS_MAX,
} from '../support/rules/structure-rules.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const linesOf = (path: string) => read(path).split('\n').length - 1
const sources = globSync(['src/**/*.ts', 'dashboard/src/**/*.{ts,tsx}'], { cwd: ROOT }).sort()
const styles = globSync('dashboard/src/**/*.css', { cwd: ROOT }).sort()
const scripts = globSync('src/redis/**/*.lua', { cwd: ROOT }).sort()
const scanned = new Map([...sources, ...scripts].map((path) => [path, scan(path, read(path))]))

describe('the code as it stands', () => {
  test('something was scanned', () => {
    for (const { root } of TREES) {
      expect(sources.filter((path) => path.startsWith(`${root}/`)).length).toBeGreaterThan(100)
    }
    expect(styles.length).toBeGreaterThan(10)
    expect(scripts.length).toBeGreaterThan(10)
  })

  test('layers, sizes, names, exports and settings hold in every file', () => {
    expect([...scanned.values()].flatMap(({ violations }) => violations)).toEqual([])
  })

  test('no literal is spread where its elements could stand', () => {
    const written = globSync('{src,dashboard,clients,scripts,bench,test}/**/*.{ts,tsx}', {
      cwd: ROOT,
      exclude: ['**/node_modules/**'],
    })
    expect(written.length).toBeGreaterThan(1_000)
    expect(written.flatMap((path) => spreadLiterals(path, read(path)))).toEqual([])
  })

  test('no file and no sub-folder is part of a circle', () => {
    const imports = new Map([...scanned].map(([path, file]) => [path, [...file.imports]]))
    expect([...circlesOfFiles(imports), ...circlesOfFolders(imports)]).toEqual([])
  })

  test('the engine is a low house of a few wings', () => {
    const imports = new Map([...scanned].map(([path, file]) => [path, [...file.imports]]))
    const { boxes, floors } = drawingOf('src/redis', imports)
    expect(boxes).toBeGreaterThan(1)
    expect(boxes).toBeLessThanOrEqual(REDIS_BOXES_MAX)
    expect(floors).toBeLessThanOrEqual(REDIS_FLOORS_MAX)
  })

  test('each wing of the engine says what it owns, its keys, who calls it and what may be lost', () => {
    const wings = globSync('src/redis/*/', { cwd: ROOT })
    const parts =
      /^# .+\n\n[A-Z].+\n\n- \*\*Keys\.\*\* .+\n- \*\*Called by\.\*\* .+\n- \*\*What may be lost\.\*\* .+\n$/
    expect(wings.length).toBeGreaterThan(1)
    expect(wings.filter((wing) => !parts.test(read(`${wing}/README.md`)))).toEqual([])
  })

  test('no folder is crowded, and nine files of ten are short', () => {
    const tests = globSync('test/**/*', { cwd: ROOT, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    expect(crowdedFolders([...sources, ...styles, ...scripts, ...tests])).toEqual([])
    const written = [...sources, ...styles, ...scripts].filter((path) => !path.includes('/generated/'))
    for (const { root } of TREES) {
      const lines = written.filter((path) => path.startsWith(`${root}/`)).map(linesOf)
      expect(percentile(lines, 0.9)).toBeLessThanOrEqual(FILE_LINES_P90_MAX)
    }
    expect([...styles, ...scripts].filter((path) => linesOf(path) > FILE_LINES_MAX)).toEqual([])
  })

  test('every Lua step says what it does and answers', () => {
    expect(scripts.flatMap((path) => headerViolations(path, read(path)))).toEqual([])
  })

  test('the linter knows the same import table', () => {
    const config = JSON.parse(read('.oxlintrc.json')) as { overrides: LintOverride[] }
    const banned = Object.fromEntries(
      config.overrides.flatMap(({ files, rules }) => {
        const rule = rules['no-restricted-imports']
        const isOfLayer = TREES.some(({ root }) => files[0]?.startsWith(`${root}/`))
        return rule === undefined || !isOfLayer ? [] : [[files[0], rule[1].patterns[0]?.group.toSorted()]]
      }),
    )
    const expected = TREES.flatMap(({ root, mayImport, compositionRoots }) => {
      const folders = [...Object.keys(mayImport), ...compositionRoots]
      return Object.entries(mayImport).map(([folder, allowed]) => [
        `${root}/${folder}/**`,
        folders
          .filter((other) => other !== folder && !allowed.includes(other))
          .map((other) => `**/${other}/**`)
          .sort(),
      ])
    })
    expect(banned).toEqual(Object.fromEntries(expected))
  })
})

describe('the rules bite', () => {
  const lines = (count: number) => '  void 0\n'.repeat(count)

  test.each([
    ['domain may not import redis', 'src/domain/a.ts', `import { x } from '../redis/x.ts'`],
    ['features may not import app', 'dashboard/src/features/a/b.tsx', `import { x } from '../../app/x.tsx'`],
    ['api may not import ui', 'dashboard/src/api/a.ts', `import { x } from '../ui/overlays/toast.tsx'`],
    [
      'ui may not import api',
      'dashboard/src/ui/a.tsx',
      `const a = <b />\nimport type { X } from '../api/x.ts'`,
    ],
    ['session may not import api', 'dashboard/src/session/a.ts', `import '../api/a.css'`],
    ['main.tsx may not import features', 'dashboard/src/main.tsx', `import { x } from './features/x.tsx'`],
    ['leaves dashboard/src/', 'dashboard/src/app/a.ts', `import { x } from '../../../src/domain/x.ts'`],
    [
      'leaves dashboard/src/',
      'dashboard/src/app/a.ts',
      `import { x } from '../../../clients/typescript/src/exchange.ts'`,
    ],
    ['leaves src/', 'src/contract/a.ts', `import { x } from '../../clients/typescript/src/client.ts'`],
    ['leaves src/', 'src/redis/a.ts', `import { X } from '../../clients/typescript/src/generated/wire.ts'`],
    ['format may not import the package preact', 'dashboard/src/format/a.ts', `import { h } from 'preact'`],
    ['format is given its clock', 'dashboard/src/format/a.ts', `export const a = Date.now()`],
    ['"helpers" says nothing', 'dashboard/src/ui/helpers.tsx', `export const a = <b />`],
    ['has a default export', 'dashboard/src/ui/a.tsx', `export default () => <b />`],
    [
      'has 61 lines, more than 60',
      'dashboard/src/ui/a.tsx',
      `export function A() {\n${lines(58)}  return <b />\n}`,
    ],
    ['api may not import executor', 'src/api/a.ts', `import type { X } from '../executor/x.ts'`],
    [
      'redis may not import outbound',
      'src/redis/a.ts',
      `export { x } from '../outbound/x.ts'\nexport const y = 1`,
    ],
    ['outbound may not import telemetry', 'src/outbound/a.ts', `const x = await import('../telemetry/x.ts')`],
    ['ports may not import redis', 'src/ports/a.ts', `export type X = import('../redis/x.ts').X`],
    ['executor may not import redis', 'src/executor/deep/a.ts', `import { x } from '../../redis/x.ts'`],
    ['main.ts may not import redis', 'src/main.ts', `import { x } from './redis/x.ts'`],
    ['folder "nowhere" is not in the import table', 'src/nowhere/a.ts', `export const a = 1`],
    [
      'domain may not import connect of node:net',
      'src/domain/a.ts',
      `import { connect, isIP } from 'node:net'`,
    ],
    [
      'domain may not import the package node:fs',
      'src/domain/a.ts',
      `import { readFileSync } from 'node:fs'`,
    ],
    ['leaves src/', 'src/api/a.ts', `import { x } from '../../test/x.ts'`],
    ['lacks its .ts', 'src/api/a.ts', `import { x } from './x'`],
    ['"manager" says nothing', 'src/api/queue-manager.ts', `export const a = 1`],
    ['"utils" says nothing', 'src/api/utils/a.ts', `export const a = 1`],
    ['has a default export', 'src/api/a.ts', `export default 1`],
    ['only re-exports', 'src/api/a.ts', `export { x } from './x.ts'\nexport * from './y.ts'`],
    ['only src/settings may read process.env', 'src/api/a.ts', `export const a = process.env.A`],
    ['only src/settings may read process.env', 'src/api/a.ts', `export const a = process['env']`],
    ['only src/settings may read process.env', 'src/api/a.ts', `import { env } from 'node:process'`],
    ['domain is given its clock', 'src/domain/a.ts', `export const a = Date.now()`],
    ['executor is given its clock', 'src/executor/a.ts', `export const a = new Date()`],
    ['has 401 lines, more than 400', 'src/api/a.ts', '\n'.repeat(401)],
    [
      'the function in line 1 has 61 lines, more than 60',
      'src/api/a.ts',
      `export function f() {\n${lines(59)}}`,
    ],
    ['has 61 lines, more than 60', 'src/api/a.ts', `export const f = () => {\n${lines(59)}}`],
    ['the function in line 2 has 61 lines', 'src/api/a.ts', `export class A {\n  m() {\n${lines(59)}  }\n}`],
    ['has 61 lines, more than 60', 'src/api/a.ts', `export const f = {\n  g() {\n${lines(59)}  } }`],
  ])('%s (%s)', (expected, path, text) => {
    expect(scan(path, text).violations).toEqual([expect.stringContaining(expected)])
  })

  test('a table does not make a function long, and the lines around it do', () => {
    const withTable = (count: number) =>
      `export function f() {\n  const table = {\n${'    a: [],\n'.repeat(100)}  }\n${lines(count)}}\n`
    expect(scan('src/api/a.ts', withTable(57)).violations).toEqual([])
    expect(scan('src/api/a.ts', withTable(58)).violations).toEqual([
      'src/api/a.ts: the function in line 1 has 61 lines, more than 60',
    ])
  })

  test.each([
    `const a = {\n  ...{ b, c } }`,
    `const a = [\n  ...[b, c]]`,
    `const a = [\n  ...(['b', 'c'] as const)]`,
    `const a = {\n  ...({ b } as const) }`,
    `f(\n  ...[a, b])`,
    `type A = [\n  ...[a: number, b: string]]`,
    `const a = <Input\n  {...{ b, c }} />`,
  ])('a literal that is spread is named: %s', (text) => {
    expect(spreadLiterals('test/a.tsx', text)).toEqual([
      'test/a.tsx: line 2 spreads a literal: write its elements out',
    ])
  })

  test('what is spread on a condition, for a copy or with a cast passes', () => {
    const text = `const a = { ...(b ? { c } : {}), ...(d && { d }) }\nconst e = [...[1, 2].map(f), ...g, ...new Set([h])]\nf(...([i] as J))\n`
    expect(spreadLiterals('test/a.ts', text)).toEqual([])
    expect(spreadLiterals('test/a.tsx', `const a = <Input {...props} {...(b ? { c } : {})} />`)).toEqual([])
  })

  test('a circle of files is found, by types alone and by way of others', () => {
    const a = scan('src/redis/a.ts', `import type { B } from './deep/b.ts'`).imports
    const b = scan('src/redis/deep/b.ts', `export type C = import('../c.ts').C`).imports
    const c = scan('src/redis/c.ts', `export { x } from './a.ts'`).imports
    const around = new Map([
      ['src/redis/a.ts', a],
      ['src/redis/deep/b.ts', b],
      ['src/redis/c.ts', c],
    ])
    expect(circlesOfFiles(around)).toEqual([
      'src/redis/a.ts and src/redis/c.ts and src/redis/deep/b.ts import each other',
    ])
    expect(circlesOfFiles(new Map([...around, ['src/redis/c.ts', []]]))).toEqual([])
  })

  test('boxes and floors are counted, by includes too, and imports within a box raise nothing', () => {
    const tower = Array.from({ length: 10 }, (_, i): [string, readonly string[]] => [
      `src/redis/wing-${i}/a.ts`,
      i === 0 ? [] : [`src/redis/wing-${i - 1}/deep/b.ts`],
    ])
    expect(drawingOf('src/redis', new Map(tower))).toEqual({ boxes: 10, floors: 10 })
    const step = scan('src/redis/roof/c.lua', '#!lua\n--#include wing-9/d\n').imports
    const inside = ['src/redis/wing-0/e.ts', ['src/redis/wing-0/a.ts', 'src/domain/f.ts']] as const
    const drawn = drawingOf('src/redis', new Map([...tower, ['src/redis/roof/c.lua', step], inside]))
    expect(drawn).toEqual({ boxes: 11, floors: 11 })
    const flat = new Map([...tower.map(([path]): [string, readonly string[]] => [path, []])])
    expect(drawingOf('src/redis', flat)).toEqual({ boxes: 10, floors: 1 })
  })

  test('a circle of sub-folders is found, and what lies beside them is none', () => {
    const graphOf = (...files: ReadonlyArray<readonly [string, readonly string[]]>) => new Map(files)
    const one = ['src/redis/jobs/a.ts', ['src/redis/queues/b.ts']] as const
    const back = ['src/redis/queues/deep/c.ts', ['src/redis/jobs/d.ts']] as const
    const door = ['src/redis/door.ts', ['src/redis/jobs/a.ts']] as const
    const toDoor = ['src/redis/jobs/d.ts', ['src/redis/door.ts']] as const
    const lua = [
      'src/redis/queues/e.lua',
      scan('src/redis/queues/e.lua', '#!lua\n--#include jobs/f\n').imports,
    ] as const
    const circle = ['src/redis/jobs and src/redis/queues import each other']
    expect(circlesOfFolders(graphOf(one, back))).toEqual(circle)
    expect(circlesOfFolders(graphOf(one, lua))).toEqual(circle)
    expect(circlesOfFolders(graphOf(one, door, toDoor))).toEqual([])
  })

  test('a crowded folder is named, generated files aside', () => {
    const files = Array.from({ length: FILES_PER_FOLDER_MAX }, (_, i) => `src/api/${i}.ts`)
    expect(crowdedFolders([...files, 'src/api/routes/a.ts', 'src/api/generated/b.ts'])).toEqual([])
    expect(crowdedFolders([...files, 'src/api/one-more.lua'])).toEqual([
      'src/api holds 15 files, more than 14',
    ])
    const rooms = (parent: string, count: number) =>
      Array.from({ length: count }, (_, i) => `${parent}/room-${i}/deep/a.ts`)
    expect(crowdedFolders(rooms('src/api', 12))).toEqual([])
    expect(crowdedFolders(rooms('src/api', 13))).toEqual(['src/api holds 13 folders, more than 12'])
    expect(crowdedFolders(rooms('src', 13))).toEqual([])
  })

  test('what is allowed passes', () => {
    const text = `import { x } from '../domain/x.ts'\nimport { request } from 'undici'\nexport function f() {\n${lines(58)}}\n`
    expect(scan('src/outbound/a.ts', text).violations).toEqual([])
    expect(scan('src/roles/a.ts', `import { x } from '../redis/x.ts'`).violations).toEqual([])
    const wire = `import type { Job } from '../../clients/typescript/src/generated/wire.ts'`
    expect(scan('src/contract/a.ts', wire).violations).toEqual([])
    const inDashboard = `import { x } from '../../../clients/typescript/src/client.ts'\nimport './a.css'\nconst a = <b />`
    expect(scan('dashboard/src/app/a.tsx', inDashboard).violations).toEqual([])
    expect(scan('src/settings/a.ts', `export const a = process.env`).violations).toEqual([])
  })

  test('a Lua step without a part of its header is named', () => {
    const header = '#!lua\n-- claim: takes.\n-- Answer c\nreturn 1\n'
    expect(headerViolations('src/redis/jobs/execute/claim/claim.lua', header)).toEqual([])
    for (const part of ['claim:', 'Answer']) {
      const without = header.replace(part, 'x')
      expect(headerViolations('src/redis/jobs/execute/claim/claim.lua', without)).toEqual([
        `src/redis/jobs/execute/claim/claim.lua: the header lacks "${part}"`,
      ])
    }
    expect(headerViolations('src/redis/lib/x.lua', 'return 1')).toHaveLength(1)
  })
})

interface LintOverride {
  readonly files: readonly string[]
  readonly rules: {
    readonly 'no-restricted-imports'?: readonly [string, { patterns: ReadonlyArray<{ group: string[] }> }]
  }
}

/** The comment at the head of a step; what steps include only has to say what it is. */
function headerViolations(path: string, text: string): string[] {
  const header = /^(?:#!lua[^\n]*\n)?((?:--[^\n]*\n)*)/.exec(text)?.[1] ?? ''
  if (!text.startsWith('#!lua')) return header === '' ? [`${path}: no comment says what it is for`] : []
  const parts = [`${basename(path, '.lua')}:`, 'Answer']
  return parts
    .filter((part) => !header.includes(`-- ${part}`))
    .map((part) => `${path}: the header lacks "${part}"`)
}
