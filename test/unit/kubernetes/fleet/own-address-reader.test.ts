import { expect, test } from 'vitest'
import { ResourceApiError } from '../../../../src/domain/errors.ts'
import type { ApiRequest } from '../../../../src/kubernetes/client/transport.ts'
import { createOwnAddressReader } from '../../../../src/kubernetes/fleet/own-address-reader.ts'

const SLICE = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes'
const PODS = '/api/v1/namespaces/ops/pods'

function setUp(answers: Readonly<Record<string, unknown>>) {
  const asked: ApiRequest[] = []
  const request = async (sent: ApiRequest) => {
    asked.push(sent)
    const answer = answers[sent.path]
    if (answer instanceof Error) throw answer
    if (answer === undefined) throw new ResourceApiError('not_found', 'not found')
    return answer as never
  }
  const transport = { request } as unknown as Parameters<typeof createOwnAddressReader>[0]['transport']
  return { asked, reader: createOwnAddressReader({ transport, namespace: 'ops' }) }
}

test('the API servers are those that say so themselves', async () => {
  const endpoints = [{ addresses: ['192.0.2.1', '192.0.2.2'] }, { addresses: ['192.0.2.3'] }]
  const { reader } = setUp({ [SLICE]: { endpoints } })
  expect(await reader.read('apiServer')).toEqual(['192.0.2.1', '192.0.2.2', '192.0.2.3'])
})

test.each<[string, Readonly<Record<string, unknown>>]>([
  ['does not exist', {}],
  ['is empty', { [SLICE]: { endpoints: null } }],
])('there is none where their EndpointSlice %s', async (_how, answers) => {
  expect(await setUp(answers).reader.read('apiServer')).toEqual([])
})

test('without the right to read it, the API server that answers says where it is', async () => {
  const forbidden = new ResourceApiError('forbidden', 'no')
  const told = ['192.0.2.7:6443', '[fd00::7]:443', '192.0.2.8', 'a b', '', undefined]
  const serverAddressByClientCIDRs = told.map((serverAddress) => ({ serverAddress }))
  const { reader } = setUp({ [SLICE]: forbidden, '/api': { serverAddressByClientCIDRs } })
  expect(await reader.read('apiServer')).toEqual(['192.0.2.7', 'fd00::7', '192.0.2.8'])
  expect(await setUp({ [SLICE]: forbidden, '/api': {} }).reader.read('apiServer')).toEqual([])
  const away = setUp({ [SLICE]: new ResourceApiError('unavailable', 'away'), '/api': {} })
  await expect(away.reader.read('apiServer')).rejects.toThrow('away')
})

test('our pods are those of the chart, with all their addresses, while they run', async () => {
  const pod = (phase: string, ...ips: string[]) => ({ status: { phase, podIPs: ips.map((ip) => ({ ip })) } })
  const items = [
    pod('Running', '10.0.0.7', 'fd00::7'),
    pod('Pending', '10.0.0.8'),
    pod('Succeeded', '10.0.0.9'),
    pod('Failed', '10.0.0.10'),
    { status: { phase: 'Pending' } },
    {},
  ]
  const { asked, reader } = setUp({ [PODS]: { items } })
  expect(await reader.read('pods')).toEqual(['10.0.0.7', 'fd00::7', '10.0.0.8'])
  expect(asked).toMatchObject([{ query: { labelSelector: 'app.kubernetes.io/name=punctual', limit: 500 } }])
})

test('our pods are read page by page, up to a bound', async () => {
  const page = (ip: string, next?: string) => ({
    items: [{ status: { phase: 'Running', podIPs: [{ ip }] } }],
    metadata: next === undefined ? {} : { continue: next },
  })
  const pages: Record<string, unknown> = {
    '': page('10.0.0.1', 'a'),
    a: page('10.0.0.2', 'b'),
    b: page('10.0.0.3'),
  }
  const asked: unknown[] = []
  const request = (sent: ApiRequest) => {
    asked.push(sent.query?.['continue'])
    return Promise.resolve(pages[String(sent.query?.['continue'] ?? '')] as never)
  }
  const transport = { request } as unknown as Parameters<typeof createOwnAddressReader>[0]['transport']
  const reader = createOwnAddressReader({ transport, namespace: 'ops' })
  expect(await reader.read('pods')).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3'])
  expect(asked).toEqual([undefined, 'a', 'b'])
  pages['b'] = page('10.0.0.3', 'a')
  await expect(reader.read('pods')).rejects.toThrow('there are more than 10000 pods')
})
