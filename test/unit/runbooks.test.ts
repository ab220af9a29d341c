/** The runbooks name what is there, and their commands find it. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { PUSHED_PER_NAMESPACE_MAX } from '../../src/controller/queues/pushed-queues.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const page = read('docs/runbooks.md')
const commands = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, block = '']) => block.split('\n'))

test('no command reads one controller where the leader, or all, are meant', () => {
  expect(commands.filter((command) => / logs /.test(command))).not.toEqual([])
  expect(commands.filter((command) => / (?:logs|port-forward) deployment\//.test(command))).toEqual([])
})

test('the resources that may not be applied are those of every kind', () => {
  const names = globSync('crds/*.punctual.dev.yaml', { cwd: ROOT }).map(
    (path) =>
      (parse(read(path)) as { spec: { names: { plural: string; categories?: string[] } } }).spec.names,
  )
  expect(names.length).toBeGreaterThan(4)
  const further = names.filter(({ categories = [] }) => !categories.includes('punctual'))
  const all = ['punctual', ...further.map(({ plural }) => plural)].join(',')
  expect(commands).toContain(`kubectl get ${all} --all-namespaces`)
})

test('the bound of pushed queues is the one that the controller has', () => {
  const bound = `more than ${PUSHED_PER_NAMESPACE_MAX.toLocaleString('en')} queues in a namespace`
  expect(page).toContain(bound)
  expect(read('charts/punctual/files/alerts.yaml')).toContain(bound)
})
