/** What GitHub runs cannot run here: its files are judged, and the steps that need no registry are run. */
import { execFileSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, unknown>>
}
interface Job {
  /** None where it is another workflow. */
  readonly steps?: readonly Step[]
  readonly uses?: string
  readonly 'timeout-minutes'?: number
  readonly permissions?: Readonly<Record<string, string>>
}
interface Workflow {
  readonly permissions: unknown
  readonly jobs: Readonly<Record<string, Job>>
}

interface Image {
  readonly tag: string
}

const ROOT = join(import.meta.dirname, '../../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const workflows = globSync('.github/workflows/*.yml', { cwd: ROOT }).map((path) => ({
  path,
  text: read(path),
}))
const jobs = workflows.flatMap(({ path, text }) =>
  Object.entries((parse(text) as Workflow).jobs).map(([name, job]) => ({ name: `${path} ${name}`, job })),
)
const release = (...given: readonly string[]) =>
  execFileSync(join(ROOT, 'scripts/release.sh'), given, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
const { version } = JSON.parse(read('package.json')) as { version: string }

test('every action is named by a commit, with the version that it is', () => {
  const uses = workflows.flatMap(({ text }) =>
    [...text.matchAll(/uses: *(.*)/g)].map(([, used = '']) => used),
  )
  expect(uses.length).toBeGreaterThan(8)
  expect(
    uses.filter(
      (used) =>
        !/^(?:\.\/\.github\/workflows\/ci\.yml|\.\/kind-action|[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/.test(
          used,
        ),
    ),
  ).toEqual([])
})

test('every image is named by a digest', () => {
  const ofKind = [...read('.github/workflows/ci.yml').matchAll(/^ +digest: (.*)/gm)].map(
    ([, digest = '']) => digest,
  )
  const stages = [...read('Dockerfile').matchAll(/^FROM (\S+)(?: AS (\S+))?/gm)]
  const named = new Set(stages.map(([, , stage]) => stage))
  const bases = stages.map(([, base = '']) => base).filter((base) => !named.has(base))
  expect(bases.filter((base) => base !== 'scratch' && !base.startsWith('${'))).toEqual([
    expect.stringMatching(/^node:26-bookworm-slim@sha256:[0-9a-f]{64}$/),
  ])
  expect(ofKind.length).toBeGreaterThan(0)
  expect(ofKind.filter((digest) => !/^sha256:[0-9a-f]{64}$/.test(digest))).toEqual([])
  const { redis } = parse(read('charts/punctual/values.yaml')) as {
    redis: { bundled: { image: Image; exporter: { image: Image } } }
  }
  for (const { tag } of [redis.bundled.image, redis.bundled.exporter.image])
    expect(tag).toMatch(/^v?\d+\.\d+\.\d+(?:-bookworm)?@sha256:[0-9a-f]{64}$/)
})

test('a workflow may read, and only the jobs that publish may write', () => {
  expect(workflows.map(({ text }) => (parse(text) as Workflow).permissions)).toEqual(
    workflows.map(() => ({ contents: 'read' })),
  )
  expect(jobs.filter(({ job }) => job.permissions !== undefined).map(({ name }) => name)).toEqual([
    '.github/workflows/release.yml publish',
    '.github/workflows/release.yml npm',
    '.github/workflows/release.yml site',
  ])
  const checkouts = jobs.flatMap(({ job }) =>
    (job.steps ?? []).filter(({ uses }) => uses?.startsWith('actions/checkout@')),
  )
  expect(checkouts.map((step) => step.with?.['persist-credentials'])).toEqual(checkouts.map(() => false))
})

test('what is released has passed all that a change has to pass, and is approved', () => {
  const { jobs: ofRelease } = parse(read('.github/workflows/release.yml')) as Workflow
  expect(ofRelease['ci']).toEqual({ needs: 'check', uses: './.github/workflows/ci.yml' })
  expect(ofRelease['build']).toMatchObject({ needs: 'ci' })
  expect(ofRelease['publish']).toMatchObject({ needs: 'build', environment: 'release' })
  expect(ofRelease['npm']).toMatchObject({ needs: 'publish', environment: 'release' })
})

test('the job that publishes to npm may do nothing else, and runs no script of the package', () => {
  const { jobs: ofRelease } = parse(read('.github/workflows/release.yml')) as Workflow
  const { permissions, steps = [] } = ofRelease['npm'] ?? {}
  expect(permissions).toEqual({ contents: 'read', 'id-token': 'write' })
  expect(steps.flatMap(({ uses }) => uses?.split('@')[0] ?? [])).toEqual([
    'actions/download-artifact',
    'actions/setup-node',
  ])
  const commands = steps.flatMap(({ run }) => run?.match(/^ *npm \w+.*/gm) ?? [])
  expect(commands.map((line) => line.trim())).toEqual([
    expect.stringMatching(/^npm view /),
    expect.stringMatching(/^npm publish \S+ --ignore-scripts --provenance --access public$/),
  ])
  expect(JSON.stringify(steps)).not.toContain('secrets.')
})

test('the job that may sign runs nothing of this repository or its packages', () => {
  const { jobs: ofRelease } = parse(read('.github/workflows/release.yml')) as Workflow
  const steps = ofRelease['publish']?.steps ?? []
  const uses = steps.flatMap(({ uses: used }) => used?.split('@')[0] ?? [])
  expect(uses).toEqual([
    'actions/download-artifact',
    'docker/login-action',
    'sigstore/cosign-installer',
    'actions/attest-build-provenance',
    'actions/attest-build-provenance',
    'actions/attest-build-provenance',
  ])
  const commands = steps.flatMap(({ run }) => run?.match(/^ *[a-z][\w./-]*/gm) ?? [])
  expect(commands.filter((command) => /^ *(?:node|npm|npx|make|bash|sh)$|\//.test(command))).toEqual([])
})

test('each image that is built is pushed by its digest, signed, attested and listed', () => {
  const { jobs: ofRelease } = parse(read('.github/workflows/release.yml')) as Workflow
  const steps = ofRelease['build']?.steps ?? []
  const built = steps.filter(({ uses }) => uses?.startsWith('docker/build-push-action@'))
  const archives = built.map((step) => /dest=(\S+)/.exec(String(step.with?.['outputs']))?.[1] ?? '')
  expect(built.map((step) => step.with?.['target'])).toEqual([undefined, 'standalone'])
  expect(archives).toEqual(['image.tar', 'standalone.tar'])
  const handedOn = steps.find(({ uses }) => uses?.startsWith('actions/upload-artifact@'))
  expect(String(handedOn?.with?.['path']).split('\n')).toEqual(expect.arrayContaining(archives))

  const publishing = ofRelease['publish']?.steps ?? []
  const scripts = publishing.map(({ run }) => run ?? '').join('\n')
  const attested = publishing.map((step) => step.with?.['subject-digest'])
  for (const [index, digest] of ['DIGEST', 'STANDALONE_DIGEST'].entries()) {
    expect(scripts).toContain(`push ${archives[index]} "$${digest}"`)
    expect(scripts).toMatch(new RegExp(`^cosign sign --yes --recursive .*"\\$IMAGE@\\$${digest}"`, 'm'))
    expect(scripts).toContain(`sbom "$${digest}"`)
    expect(attested).toContain(`\${{ env.${digest} }}`)
  }
})

test('the job that builds has no rights beyond those of the workflow', () => {
  const { jobs: ofRelease } = parse(read('.github/workflows/release.yml')) as Workflow
  expect(ofRelease['build']?.permissions).toBe(undefined)
  expect(JSON.stringify(ofRelease['build'])).not.toContain('secrets.')
})

test('every job has an end', () => {
  expect(
    jobs
      .filter(({ job }) => job['timeout-minutes'] === undefined && job.uses === undefined)
      .map(({ name }) => name),
  ).toEqual([])
})

test('no step puts what others write into a shell', () => {
  const steps = jobs.flatMap(({ job }) => (job.steps ?? []).flatMap(({ run }) => run ?? []))
  expect(steps.length).toBeGreaterThan(0)
  expect(steps.filter((run) => run.includes('${{'))).toEqual([])
})

test('packages are installed without their scripts', () => {
  const files = ['Dockerfile', ...globSync(['scripts/*.sh', '.github/workflows/*.yml'], { cwd: ROOT })]
  const installs = files.flatMap((path) =>
    [...read(path).matchAll(/^[^#\n]*\b(npm (?:ci|install)\b.*)/gm)].map(([, line = '']) => line),
  )
  expect(installs.length).toBeGreaterThan(1)
  expect(installs.filter((line) => !line.startsWith('npm ci --ignore-scripts '))).toEqual([])
})

test('the bot looks after every folder with pinned modules', () => {
  const { updates } = parse(read('.github/dependabot.yml')) as {
    updates: ReadonlyArray<{
      'package-ecosystem': string
      directory?: string
      directories?: readonly string[]
    }>
  }
  const ofGo = updates.find((update) => update['package-ecosystem'] === 'gomod')?.directories
  const modules = globSync('{scripts,test}/**/go.mod', { cwd: ROOT }).map(
    (path) => `/${path.replace('/go.mod', '')}`,
  )
  expect([...(ofGo ?? [])].sort()).toEqual(modules.sort())
  expect(updates.map((update) => update['package-ecosystem']).sort()).toEqual([
    'docker',
    'github-actions',
    'gomod',
    'helm',
    'npm',
  ])
})

test('a release is refused whose tag is not the version, or that the changelog does not know', () => {
  expect(() => release('check', 'v99.0.0')).toThrow(/the tag v99\.0\.0 is not v/)
  const isKnown = new RegExp(`^## \\[?${version}`, 'm').test(read('CHANGELOG.md'))
  if (isKnown) expect(release('check', `v${version}`)).toBe('')
  else expect(() => release('check', `v${version}`)).toThrow(/CHANGELOG\.md has no section of/)
})

test.each([
  [['chart', 'punctual', `sha256:${'a'.repeat(64)}`, '/nowhere'], /is no repository/],
  [['chart', 'ghcr.io/acme/punctual', 'latest', '/nowhere'], /the digest latest is none/],
  [['compose', 'ghcr.io/acme/punctual', 'latest', '/nowhere'], /the digest latest is none/],
  [['package', 'github.com/acme/punctual', '/nowhere'], /is no address such as/],
  [['publish'], /usage: /],
])('%j is refused', (given, text) => {
  expect(() => release(...given)).toThrow(text)
})

test('the compose file of a release runs the image that was signed, and builds nothing', () => {
  const folder = mkdtempSync(join(tmpdir(), 'punctual-release-'))
  try {
    const digest = `sha256:${'a'.repeat(64)}`
    release('compose', 'ghcr.io/acme/punctual', digest, folder)
    const { services } = parse(readFileSync(join(folder, 'compose.yaml'), 'utf8')) as {
      services: Readonly<Record<string, { image: string; build?: string }>>
    }
    expect(services['punctual']?.image).toBe(`ghcr.io/acme/punctual@${digest}`)
    expect(Object.values(services).filter(({ build }) => build !== undefined)).toEqual([])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
