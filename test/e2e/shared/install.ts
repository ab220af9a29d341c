import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, expect, inject, test } from 'vitest'
import { openSharedRelease } from '../support/open-release.ts'
import { helm, RELEASE } from '../support/release.ts'

const FIRST_JOB_SECONDS_MAX = 60

const firstUse = inject('firstUse')
const cluster = openSharedRelease()

export function install(): void {
  afterAll(() => cluster.close())

  test('an installed chart does its first job within a minute', () => {
    expect(firstUse.seconds).toBeLessThan(FIRST_JOB_SECONDS_MAX)
  })

  test('the first request after an install is not refused for a token that is not in force yet', () => {
    expect(firstUse.statuses).toContain(200)
    expect(firstUse.statuses).not.toContain(401)
  })

  test('a job pushed by curl through the Service arrives, and kubectl shows its queue', async () => {
    const job = JSON.stringify({ queue: 'by-curl', url: cluster.target.url('by-curl') })
    const { stdout } = await promisify(execFile)('curl', [
      '--silent',
      '--show-error',
      '--fail-with-body',
      '--max-time',
      '30',
      `${cluster.apiUrl}/api/jobs`,
      '--header',
      `Authorization: Bearer ${cluster.token}`,
      '--header',
      'Content-Type: application/json',
      '--data',
      job,
    ])
    const { job_id: id } = JSON.parse(stdout) as { job_id: number }
    await cluster.punctual.ended(id, 60_000)

    expect((await cluster.target.report('by-curl')).arrivals).toBe(1)

    const { metadata } = await cluster.queueResource('by-curl')
    await cluster.ready(`hq/${metadata.name}`)
    // Counts are written once in a while, not with the condition.
    await expect
      .poll(() => cluster.inNamespace('get', 'hq', metadata.name), { timeout: 60_000 })
      .toMatch(/^NAME +READY +ACTIVE +LIMIT +PENDING +RUNNING +DEAD .*\n\S+ +True +true +0 +0 +0 /)
  })

  test('helm test passes where the blocks of pods, services and nodes are closed', async () => {
    await helm(cluster, 'test', RELEASE)

    const { jobs } = await cluster.punctual.jobs({ queue: 'helm-test' })
    expect(jobs.map(({ status }) => status)).toEqual(['completed'])
  })

  test.each([cluster.namespace, 'targets'])(
    'a pod in %s must pass pod security "restricted"',
    async (namespace) => {
      const container = { name: 'lax', image: 'punctual:e2e' }
      const pod = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'lax' },
        spec: { containers: [container] },
      }

      await expect(
        cluster.kubernetes.apply(JSON.stringify(pod), { namespace, dryRun: true }),
      ).rejects.toThrow(/violates PodSecurity "restricted/)
    },
  )
}
