import { createRequire } from 'node:module'
import type * as Yaml from 'yaml'

/** Loaded when it is first used: of the modules that the command line loads it would be every third. */
const require = createRequire(import.meta.url)

function yaml(): typeof Yaml {
  return require('yaml') as typeof Yaml
}

/** JSON is YAML, and this parser keeps the digits of numbers beyond 2^53 as well. */
export function yamlOfJson(json: string): string {
  const { parse, stringify } = yaml()
  return stringify(parse(json, { intAsBigInt: true }))
}

export function yamlOf(value: unknown): string {
  return yaml().stringify(value)
}

/** What the documents of a text hold. @throws Error with what is no YAML */
export function documentsOf(text: string): unknown[] {
  return yaml()
    .parseAllDocuments(text)
    .map((document) => {
      const [fault] = document.errors
      if (fault !== undefined) throw fault
      return document.toJS() as unknown
    })
}
