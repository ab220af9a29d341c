/** A manifest that a cluster and a folder must judge alike. */
export interface Sample {
  readonly title: string
  readonly kind: Kind
  /** `metadata.name`. */
  readonly name: string
  readonly spec: unknown
  /** What is in force under that name when this one comes. */
  readonly former?: unknown
}

export interface InvalidSample extends Sample {
  /** Where both must see a mistake: `spec.retryDelays[0]`. */
  readonly field: string
  /** The message of the rule it breaks, the same words in both; without it, its shape is wrong. */
  readonly rule?: string
}

export type Kind = 'HttpQueue' | 'HttpCron' | 'MaintenanceWindow' | 'TeamSettings' | 'ApiToken'

/** The samples of one kind. */
export interface KindSamples {
  readonly kind: Kind
  readonly crd: string
  /** For samples that name none. */
  readonly name: string
  /** Valid specs in which, taken together, every field stands; its bounds are tried by changing one at a time. */
  readonly full: readonly object[]
  /** What makes a value longer and keeps it valid, by path; `x` where none is named, null where nothing does. */
  readonly padding?: Readonly<Record<string, string | null>>
  /** Fields that decide what stands beside them: their valid values are in `valid`. */
  readonly deciding?: readonly string[]
  /** Fields of which the folder, like the controller, refuses more than the rules of the CRD can tell. */
  readonly strictFields?: readonly string[]
  readonly valid: readonly GivenSample[]
  readonly invalid: readonly GivenInvalidSample[]
}

export interface GivenSample {
  readonly title: string
  readonly name?: string
  readonly spec: unknown
  readonly former?: unknown
}

export interface GivenInvalidSample extends GivenSample {
  readonly field: string
  readonly rule?: string
}
