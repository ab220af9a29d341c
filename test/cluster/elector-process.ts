/** A process that wants to lead, to be killed: `node elector-process.ts <kubeconfig> <namespace> <identity>`. */
import { LeaderElector } from '../../src/kubernetes/leader-election/leader-elector.ts'
import { createLeaseLock } from '../../src/kubernetes/leader-election/lease-lock.ts'
import { loadKubeconfig } from '../../src/kubernetes/client/kubeconfig.ts'
import { createTransport } from '../../src/kubernetes/client/transport.ts'
import { systemClock } from '../../src/telemetry/system-clock.ts'
import { quietClusterMetrics, quietLogger, quietReconcileMetrics } from '../support/quiet.ts'

const [kubeconfig = '', namespace = '', identity = ''] = process.argv.slice(2)
const transport = createTransport({
  config: loadKubeconfig(kubeconfig),
  clock: systemClock,
  metrics: quietClusterMetrics,
  userAgent: 'punctual/test',
})
const elector = new LeaderElector({
  lock: createLeaseLock(transport, { namespace, name: 'punctual-controller' }),
  identity,
  clock: systemClock,
  logger: quietLogger,
  metrics: quietReconcileMetrics,
  random: Math.random,
})
elector.onLead(async () => void process.stdout.write('leading\n'))
elector.start()
