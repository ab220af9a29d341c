/**
 * What nodes would do for an API server that has none: pods run, those of Jobs end well, and one that is attached to
 * ends once it was.
 */
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AnyObject, KubernetesApi } from '../cluster/kubernetes-api.ts'

const ROUND_MS = 200

interface Pod extends AnyObject {
  readonly spec: { readonly restartPolicy: string }
  readonly status: { readonly phase: string; readonly conditions?: ReadonlyArray<{ readonly type: string }> }
}

/** @param attachedFile that is there once a command has attached to a pod */
export function startFakeKubelet(api: KubernetesApi, namespace: string, attachedFile: string) {
  let isStopped = false
  const path = `/api/v1/namespaces/${namespace}/pods`

  function phaseOf({ metadata, spec }: Pod): 'Running' | 'Succeeded' {
    if (spec.restartPolicy === 'Always') return 'Running'
    // Neither of a Job nor a hook of Helm, which ends by itself.
    const isHook = JSON.stringify(metadata['annotations'] ?? {}).includes('helm.sh/hook')
    const isAttachedTo = metadata['ownerReferences'] === undefined && !isHook
    return isAttachedTo && !existsSync(attachedFile) ? 'Running' : 'Succeeded'
  }

  async function round(): Promise<void> {
    const { items } = (await api.send('GET', path)) as unknown as { readonly items: readonly Pod[] }
    for (const pod of items) {
      const phase = phaseOf(pod)
      const isReady = pod.status.conditions?.some(({ type }) => type === 'Ready') ?? false
      if (pod.status.phase === phase && isReady) continue
      const conditions = [{ type: 'Ready', status: phase === 'Running' ? 'True' : 'False' }]
      const status = { phase, conditions }
      await api
        .send(
          'PATCH',
          `${path}/${pod.metadata.name}/status`,
          { status },
          'application/strategic-merge-patch+json',
        )
        .catch(() => undefined)
    }
  }

  const running = (async () => {
    while (!isStopped) {
      await round().catch(() => undefined)
      await sleep(ROUND_MS)
    }
  })()
  return {
    stop: async (): Promise<void> => {
      isStopped = true
      await running
    },
  }
}
