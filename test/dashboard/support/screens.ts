/** The screens of the dashboard, as its router has them. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const SOURCE = join(import.meta.dirname, '../../../dashboard/src/app/screens.tsx')

/** The paths of all routes, such as `/queues/:queue_id`. */
export function routesOfScreens(): readonly string[] {
  return [...readFileSync(SOURCE, 'utf8').matchAll(/<Route path=\{at\('([^']+)'\)\}/g)].map(
    ([, path = '']) => path,
  )
}

/** The address of a route for one thing of each kind. @throws when a parameter has no id */
export function addressOf(route: string, ids: Readonly<Record<string, number | string>>): string {
  return route.replaceAll(/:(\w+)/g, (_, name: string) => {
    const id = ids[name]
    if (id === undefined) throw new Error(`${route}: no id for ${name}`)
    return String(id)
  })
}
