/** The pod of a restore that docs/reference/backup.md makes of the controller's Deployment is one that runs. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createChartWorld } from '../../support/cluster/chart-world.ts'

const PAGE = readFileSync(new URL('../../../docs/reference/backup.md', import.meta.url), 'utf8')
const world = createChartWorld()

interface Pod {
  readonly metadata: { readonly labels: Record<string, string> }
  readonly spec: {
    readonly containers: ReadonlyArray<Record<string, unknown>>
    readonly restartPolicy: string
    readonly initContainers?: unknown
  }
}

function jqObstacle(): string | null {
  try {
    execFileSync('jq', ['--version'], { stdio: 'ignore' })
    return null
  } catch {
    return 'jq is not on PATH'
  }
}

test('it has the image, the labels and the variables of the controller, and waits for its input', async ({
  skip,
}) => {
  const obstacle = jqObstacle()
  skip(obstacle !== null, obstacle ?? '')
  const objects = await world.rendered({ controller: { podLabels: { cost: 'shop' } } })
  const find = (kind: string) =>
    objects.find((one) => one.kind === kind && one.metadata.name === 'punctual-controller') ?? expect.fail()
  const path = `/namespaces/${world.namespace()}`
  await world.api.send('POST', `/api/v1${path}/serviceaccounts`, find('ServiceAccount'))
  const deployment = await world.api.send('POST', `/apis/apps/v1${path}/deployments`, find('Deployment'))
  const [, program = ''] = /\| jq '(.+?)' \| kubectl/s.exec(PAGE) ?? []
  const made = JSON.parse(
    execFileSync('jq', [program], { input: JSON.stringify(deployment), encoding: 'utf8' }),
  ) as object
  const pod = (await world.api.send('POST', `/api/v1${path}/pods`, made)) as unknown as Pod
  const { template } = (deployment as unknown as { spec: { template: Pod } }).spec
  expect(pod.metadata.labels).toEqual(template.metadata.labels)
  expect(pod.spec.initContainers).toBeUndefined()
  const [container = {}] = pod.spec.containers
  expect(container).toMatchObject({
    args: ['restore', '-'],
    stdin: true,
    stdinOnce: true,
    image: template.spec.containers[0]?.['image'],
    env: template.spec.containers[0]?.['env'],
  })
  expect(container).not.toHaveProperty('readinessProbe')
  expect(pod.spec.restartPolicy).toBe('Never')
})
