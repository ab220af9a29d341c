import { describe, expect, it } from 'vitest'
import { createManifestReader } from '../../../../src/resources/manifests/manifest-reader.ts'
import { problemText } from '../../../../src/resources/resource.ts'

const reader = createManifestReader('default')
const OURS = 'punctual.dev/v1alpha1'

const read = (text: string) => reader.read('a.yaml', text)
const problemsOf = (text: string) => read(text).problems.map(problemText)

/** Where each resource stands, and which it is. */
function placesIn(text: string): readonly string[] {
  const { resources, problems } = read(text)
  expect(problems.map(problemText)).toEqual([])
  return resources.map(
    ({ document, item, resource }) => `${document}.${item} ${resource.kind} ${resource.name}`,
  )
}

const item = (name: string, spec = '{}', kind = 'HttpQueue') =>
  `- apiVersion: ${OURS}\n  kind: ${kind}\n  metadata: { name: ${name} }\n  spec: ${spec}\n`
const bare = (name: string, spec = '{}') => `- metadata: { name: ${name} }\n  spec: ${spec}\n`
const list = (...items: readonly string[]) =>
  `apiVersion: v1\nkind: List\nmetadata:\n  resourceVersion: ""\nitems:\n${items.join('')}`
const typed = (kind: string, ...items: readonly string[]) =>
  `apiVersion: ${OURS}\nkind: ${kind}\nitems:\n${items.join('')}`
const CRON = '{ url: "https://a.test", cronExpression: 0 8 * * * }'
const SECRET = '- apiVersion: v1\n  kind: Secret\n  metadata: { name: s }\n  stringData: { a: b }\n'

describe('a list', () => {
  it('is taken item by item, of any kinds, as kubectl prints them', () => {
    const text = list(item('a'), item('b', CRON, 'HttpCron'), SECRET)
    expect(placesIn(text)).toEqual(['1.1 HttpQueue a', '1.2 HttpCron b', '1.3 Secret s'])
    expect(placesIn(`${item('x').replaceAll(/^(- | {2})/gm, '')}---\n${text}`)).toEqual([
      '1.null HttpQueue x',
      '2.1 HttpQueue a',
      '2.2 HttpCron b',
      '2.3 Secret s',
    ])
  })

  it('may be JSON, and have no items', () => {
    const queue = { apiVersion: OURS, kind: 'HttpQueue', metadata: { name: 'a' }, spec: {} }
    expect(placesIn(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [queue] }, null, 4))).toEqual([
      '1.1 HttpQueue a',
    ])
    expect(placesIn('apiVersion: v1\nkind: List\nitems: []\n')).toEqual([])
  })

  it('may share anchors between items', () => {
    const text = list(item('a', '&s { timeoutSeconds: 7 }'), item('b', '*s'))
    expect(read(text).resources.map(({ resource }) => resource)).toMatchObject([
      { settings: { timeoutSeconds: 7 } },
      { settings: { timeoutSeconds: 7 } },
    ])
  })

  it('passes over items of other API groups', () => {
    const foreign =
      '- apiVersion: apps/v1\n  kind: Deployment\n  metadata: { name: d }\n  spec: { replicas: 010 }\n'
    expect(placesIn(list(foreign, item('a')))).toEqual(['1.2 HttpQueue a'])
  })

  it('of another API group is passed over', () => {
    const text = 'apiVersion: apps/v1\nkind: DeploymentList\nother: 1\nitems:\n- metadata: { name: d }\n'
    expect(placesIn(text)).toEqual([])
  })

  it('has problems of each item, which name file, document, item, line and field', () => {
    const text = list(
      item('a', '{ timeoutSeconds: 0 }'),
      item('b'),
      item('c', '{ what: 1, maxParallelism: 010 }'),
    )
    expect(problemsOf(`---\n---\n${text}`)).toEqual([
      'a.yaml, document 2, item 1, line 11, spec.timeoutSeconds: 0 must be from 1 to 300.',
      expect.stringContaining('a.yaml, document 2, item 3, line 19, spec.what: is not a known field'),
    ])
    expect(problemsOf(list(item('a'), item('b', '{ maxParallelism: 010 }')))).toEqual([
      expect.stringContaining('document 1, item 2, line 13, spec.maxParallelism: begins with a zero'),
    ])
  })

  it.each([
    ['- 1\n', 'a.yaml, document 1, item 1, line 6: 1 must be a map with apiVersion and kind.'],
    ['-\n', 'a.yaml, document 1, item 1, line 6: null must be a map with apiVersion and kind.'],
    [bare('a'), 'a.yaml, document 1, item 1, line 6, apiVersion: is required'],
    [item('Mail'), 'a.yaml, document 1, item 1, line 8, metadata.name: "Mail" must be a name'],
    [`${item('a')}- *none\n`, 'a.yaml, document 1, item 2, line 10: cannot be read: Unresolved alias'],
    [
      `- apiVersion: v1\n  kind: List\n  items:\n  ${item('a').replaceAll('\n', '\n  ')}\n`,
      'a.yaml, document 1, item 1, line 7, kind: "List" must not be that of a list: put the items of the inner list into the outer one.',
    ],
    [
      `- apiVersion: ${OURS}\n  kind: HttpQueueList\n  items: []\n`,
      'kind: "HttpQueueList" must not be that of a list',
    ],
  ])('with the item %j is refused', (items, problem) => {
    const problems = problemsOf(list(items))
    expect(problems).toHaveLength(problem.includes('is required') ? 2 : 1)
    expect(problems[0]).toContain(problem)
    expect(read(list(items)).resources.map((one) => one.item)).toEqual(items.includes('*none') ? [1] : [])
  })

  it.each([
    [
      'apiVersion: v1\nkind: List\nitems: { a: 1 }\n',
      'line 3, items: must be a list of resources; [] stands for none.',
    ],
    ['apiVersion: v1\nkind: List\nitems:\n', 'items: must be a list of resources'],
    ['apiVersion: v1\nkind: List\n', 'line 1, items: must be a list of resources'],
    [
      `apiVersion: ${OURS}\nkind: HttpQueueList\nitem: []\n`,
      'line 3, item: is not a known field of a list; known here',
    ],
    [
      'kind: List\nitems: []\n',
      'apiVersion: is required; supported: List of v1, and lists of one kind: HttpQueue,',
    ],
    [
      `apiVersion: ${OURS}\nkind: List\nitems: []\n`,
      `kind: List of ${OURS} is not supported; supported: List of v1,`,
    ],
    [
      `apiVersion: ${OURS}\nkind: HttpTaskList\nitems: []\n`,
      `kind: HttpTaskList of ${OURS} is not supported`,
    ],
    [
      'apiVersion: punctual.dev/v9\nkind: HttpQueueList\n',
      'kind: HttpQueueList of punctual.dev/v9 is not supported',
    ],
  ])('that is %j is refused', (text, problem) => {
    expect(problemsOf(text)).toEqual([expect.stringContaining(problem)])
    expect(problemsOf(text)[0]).toMatch(/^a\.yaml, document 1, line /)
  })

  it('of aliases that together expand beyond the bound is refused as a whole', () => {
    const shared = list(item('q0', '&s { retryDelays: [1] }'), ...times(150, (n) => item(`q${n}`, '*s')))
    expect(problemsOf(shared)).toEqual([
      'a.yaml, document 1, line 1: cannot be read: Excessive alias count indicates a resource exhaustion attack.',
    ])
  })

  it('counts in a file with each of its items', () => {
    const many = (count: number) => list(...times(count, (n) => item(`q${n}`)))
    expect(placesIn(many(1000))).toHaveLength(1000)
    const tooMany = 'a file may have at most 1000 documents, and each item of a list counts as one.'
    expect(problemsOf(many(1001))).toEqual([
      `a.yaml, document 1, line 6, items: 1001 items are too many: ${tooMany}`,
    ])
    expect(problemsOf(`${many(600)}---\n${many(401)}`)).toEqual([
      expect.stringContaining(`a.yaml, document 2, line 2412, items: 401 items are too many: ${tooMany}`),
    ])
    expect(placesIn(`${many(600)}---\n${many(400)}`)).toHaveLength(1000)
  })
})

describe('a typed list', () => {
  it('says apiVersion and kind of items that do not', () => {
    expect(placesIn(typed('HttpQueueList', bare('a'), item('b', CRON, 'HttpCron'), bare('c')))).toEqual([
      '1.1 HttpQueue a',
      '1.2 HttpCron b',
      '1.3 HttpQueue c',
    ])
    expect(placesIn(typed('HttpCronList', bare('a', CRON)))).toEqual(['1.1 HttpCron a'])
    expect(placesIn(typed('TeamSettingsList', bare('team')))).toEqual(['1.1 TeamSettings team'])
    expect(placesIn('apiVersion: v1\nkind: SecretList\nitems:\n- metadata: { name: s }\n')).toEqual([
      '1.1 Secret s',
    ])
  })

  it('has items that say both or neither, as kubectl reads them', () => {
    expect(problemsOf(typed('HttpQueueList', bare('a').replace('- ', '- kind: HttpQueue\n  ')))).toEqual([
      expect.stringContaining('document 1, item 1, line 4, apiVersion: is required'),
    ])
  })
})

function times(count: number, textOf: (n: number) => string): readonly string[] {
  return Array.from({ length: count }, (_, index) => textOf(index + 1))
}
