import type { KindCluster } from '../../support/cluster/kind-cluster.ts'

const CONNECT_TIMEOUT_MS = 3000

/** From inside a pod, past the egress guard of the program: what the network itself lets through. */
export async function reaches(
  cluster: KindCluster,
  from: { readonly namespace: string; readonly workload: string },
  to: { readonly host: string; readonly port: number },
): Promise<boolean> {
  const program = `
    const socket = require('node:net').connect({ host: '${to.host}', port: ${to.port}, timeout: ${CONNECT_TIMEOUT_MS} })
    const end = (word) => { console.log(word); process.exit() }
    socket.on('connect', () => end('reached')).on('timeout', () => end('timeout')).on('error', (error) => end(error.code))`
  const where = ['-n', from.namespace, 'exec', from.workload]
  const word = await cluster.kubectl(...where, '--', 'node', '--eval', program)
  return word.trim() === 'reached'
}
