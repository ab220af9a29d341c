/** What etcd holds of a cluster, as its bytes. */
import { inject } from 'vitest'

/** Of one request; objects are read in pages of this size. */
const PAGE_KEYS = 500

interface Range {
  readonly kvs?: ReadonlyArray<{ readonly key: string; readonly value?: string }>
}

/** Every key below `/registry/` with its value: core kinds as protobuf, in which texts are readable, others as JSON. */
export async function readEtcd(): Promise<ReadonlyMap<string, Buffer>> {
  const held = new Map<string, Buffer>()
  const end = Buffer.from('/registry0').toString('base64')
  let from = Buffer.from('/registry/').toString('base64')
  for (;;) {
    const answer = await fetch(`${inject('etcdUrl')}/v3/kv/range`, {
      method: 'POST',
      body: JSON.stringify({ key: from, range_end: end, limit: String(PAGE_KEYS) }),
    })
    if (!answer.ok) throw new Error(`etcd answered ${answer.status}: ${await answer.text()}`)
    const { kvs = [] } = (await answer.json()) as Range
    for (const { key, value = '' } of kvs) {
      held.set(Buffer.from(key, 'base64').toString(), Buffer.from(value, 'base64'))
    }
    const last = kvs.at(-1)
    if (last === undefined || kvs.length < PAGE_KEYS) return held
    from = Buffer.concat([Buffer.from(last.key, 'base64'), Buffer.from([0])]).toString('base64')
  }
}
