/** A process that wants to lead, to be killed: `node elector-process.ts <kubeconfig> <namespace> <identity>`. */
import { createElector } from '../../src/kubernetes/leader-election/leader-elector.ts'
import { createLeaseStore } from '../../src/kubernetes/leader-election/lease-lock.ts'
import { loadClusterConfig } from '../../src/kubernetes/client/cluster-config.ts'
import { createTransport } from '../../src/kubernetes/client/transport.ts'
import { systemClock } from '../../src/telemetry/system-clock.ts'
import { quietClusterMetrics, quietLogger, quietReconcileMetrics } from '../support/quiet.ts'

const [kubeconfig = '', namespace = '', identity = ''] = process.argv.slice(2)
const transport = createTransport({
  config: loadClusterConfig(kubeconfig),
  clock: systemClock,
  metrics: quietClusterMetrics,
  userAgent: 'punctual/test',
})
const elector = createElector({
  store: createLeaseStore(transport, { namespace, name: 'punctual-controller' }),
  identity,
  clock: systemClock,
  logger: quietLogger,
  metrics: quietReconcileMetrics,
  random: Math.random,
})
elector.onLead(async () => void process.stdout.write('leading\n'))
elector.start()
