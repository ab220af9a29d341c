import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

/** A structural schema, the subset of OpenAPI for CRDs. */
export interface CrdSchema {
  readonly type?: string
  readonly format?: string
  readonly nullable?: boolean
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, CrdSchema>>
  readonly items?: CrdSchema
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map'
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-validations'?: readonly CrdRule[]
}

/** One entry of `x-kubernetes-validations`. */
export interface CrdRule {
  /** CEL over `self`, the value of the schema; a rule with `oldSelf` checks a change. */
  readonly rule: string
  readonly message: string
  /** The path from the value to the invalid field, such as `.spec.queueName`. */
  readonly fieldPath?: string
}

interface CrdDocument {
  readonly spec: {
    readonly versions: ReadonlyArray<{ readonly schema: { readonly openAPIV3Schema: CrdSchema } }>
  }
}

/** The folder lies next to `src`, and in the image next to `dist`. */
const CRD_FOLDER = new URL('../../../crds/', import.meta.url)

/**
 * Reads the schema of a whole resource.
 * @param file names a file of `crds/`
 */
export function schemaOfCrd(file: string): CrdSchema {
  // The file is our own, and tests check its shape.
  const crd = parse(readFileSync(new URL(file, CRD_FOLDER), 'utf8')) as CrdDocument
  const schema = crd.spec.versions[0]?.schema.openAPIV3Schema
  if (schema === undefined) throw new Error(`${file} has no schema`)
  return schema
}
