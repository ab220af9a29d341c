import { reasonOf } from '../../domain/errors.ts'
import { readerOfCrd } from '../../resources/schema/crd-schema.ts'
import { fieldName, type FieldProblem } from '../../resources/schema/field-path.ts'
import type { KubeObject } from '../../ports/resource-store.ts'

/**
 * Validates specs again, by the CRD that this controller knows: the API server may have an older one, which lacks
 * fields or allows more. Fields of a newer CRD are ignored. Compiles the schema once.
 * @param file names a file of `crds/`
 * @param fields the fields of `spec` that this controller reads
 */
export function createSpecCheck<Spec extends object>(
  file: string,
  fields: readonly string[],
): (object: KubeObject & { readonly spec: Spec }) => { readonly spec: Spec } | { readonly problem: string } {
  const read = readerOfCrd(file)
  return ({ metadata, spec }) => {
    const known = Object.entries(spec).filter(([name]) => fields.includes(name))
    const end = read({ metadata: { name: metadata.name }, spec: Object.fromEntries(known) })
    if ('checked' in end) return { spec: end.checked.spec as Spec }
    const [problem] = end.problems
    return { problem: problem === undefined ? 'spec is not valid.' : problemText(problem) }
  }
}

/**
 * Takes a throw as a problem too: like an invalid resource, this one is refused with a condition until its spec
 * changes, and no other waits for it.
 */
export function orRefused<T, Result>(
  check: (object: T) => Result,
): (object: T) => Result | { readonly problem: string } {
  return (object) => {
    try {
      return check(object)
    } catch (error) {
      return { problem: `spec: cannot be evaluated: ${reasonOf(error)}.` }
    }
  }
}

export function problemText({ path, reason }: FieldProblem): string {
  return `${fieldName(path)}: ${reason}`
}
