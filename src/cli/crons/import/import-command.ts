import type { Command } from 'commander'
import { cliError, MISUSED, NOT_FOUND } from '../../cli-error.ts'
import { Kubectl, type KubectlFlags } from '../../cluster/kubectl.ts'
import type { CommandRunner } from '../../command-runner.ts'
import { readSource, type Stdin } from '../../given-source.ts'
import { printable } from '../../output/text-table.ts'
import { documentsOf, yamlOf } from '../../output/yaml.ts'
import type { CronJob } from './cron-job.ts'
import type { Document } from './imported.ts'

interface ImportFlags extends KubectlFlags {
  readonly namespace?: string
  readonly allNamespaces?: true
  readonly filename?: string
}

export function registerImportCommand(program: Command, runner: CommandRunner, stdin: Stdin): void {
  program
    .command('import')
    .description('write resources that take the place of others; changes nothing')
    .command('cronjobs')
    .description('write HttpCrons for the CronJobs that run curl or wget, as YAML')
    .option(
      '-f, --filename <file>',
      'CronJobs as YAML or JSON, - reads standard input (default: from kubectl)',
    )
    .option('-n, --namespace <namespace>', 'namespace to read (default: that of the context)')
    .option('-A, --all-namespaces', 'read all namespaces')
    .option('--context <context>', 'context of the kubeconfig')
    .option('--kubeconfig <file>', 'kubeconfig to use')
    .action((flags: ImportFlags) =>
      runner.local(async () => {
        const given =
          flags.filename === undefined ? [await askCluster(flags)] : await readFile(flags.filename, stdin)
        const jobs = given.flatMap(itemsOf).filter(isCronJob)
        if (jobs.length === 0) throw cliError('no CronJob was found', NOT_FOUND)
        // It needs the calendar of crons, which no other verb loads.
        const { imported } = await import('./imported.ts')
        const { documents, left } = imported(jobs)
        runner.say(printable(documents.map(textOf).join('---\n')))
        if (left.length === 0) return
        const names = left.join(', ')
        throw cliError(
          `${left.length} of ${jobs.length} CronJobs have no HttpCron: ${names}; the output says why`,
        )
      }),
    )
}

function askCluster({ namespace, allNamespaces, ...flags }: ImportFlags): Promise<unknown> {
  const where =
    allNamespaces === true
      ? ['--all-namespaces']
      : namespace === undefined
        ? []
        : [`--namespace=${namespace}`]
  return new Kubectl(flags).read(['get', 'cronjobs.batch', ...where])
}

async function readFile(name: string, stdin: Stdin): Promise<unknown[]> {
  const text = await readSource(name === '-' ? '-' : `@${name}`, stdin)
  try {
    return documentsOf(text)
  } catch (fault) {
    const reason = fault instanceof Error ? fault.message : String(fault)
    throw cliError(`${name} is not YAML: ${reason.split('\n')[0]}`, MISUSED)
  }
}

/** Of a list its items, of anything else itself. */
function itemsOf(given: unknown): unknown[] {
  const { items } = (given ?? {}) as { readonly items?: unknown }
  return Array.isArray(items) ? items : [given]
}

function isCronJob(given: unknown): given is CronJob {
  const { apiVersion, kind } = (given ?? {}) as { readonly apiVersion?: unknown; readonly kind?: unknown }
  return kind === 'CronJob' && String(apiVersion).startsWith('batch/')
}

function textOf({ comments, resource }: Document): string {
  const lines = comments.map((comment) => `# ${comment.replaceAll(/[\r\n]+/g, ' ')}\n`)
  return `${lines.join('')}${resource === null ? '' : yamlOf(resource)}`
}
