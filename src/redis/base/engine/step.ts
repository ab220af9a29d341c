import { SHARD_KEY_WORDS, type QueueKeyName, type ShardKeyName, type ShardKeys } from '../layout/keys.ts'

export type Argument = string | number

/** Keys and arguments of a step, or of one row of it. */
export interface RowShape {
  /** In a step, a name of `ShardKeys` is that key. The sender gives all others. */
  readonly keys?: readonly string[]
  /** Keys of the queue that `localId` names. */
  readonly queueKeys?: readonly QueueKeyName[]
  readonly args?: readonly string[]
}

/**
 * The keys and arguments of a step, by name and in order. KEYS: `keys`, `queueKeys`, then the keys of all rows. ARGV:
 * `args`, then the rows, each group with its count before it, then `rest`. The Lua file says `KEYS.ring`,
 * `ARGV.leaseMs`, `ROWS.queues`.
 */
export interface StepShape extends RowShape {
  readonly rows?: Readonly<Record<string, RowShape>>
  /** Values to the end, without a count. */
  readonly rest?: string
}

type NamesIn<List> = List extends readonly string[] ? List[number] : never
type Needs<Name, Values> = [Name] extends [never] ? unknown : Values
type LocalId<Shape> = Shape extends { readonly queueKeys: unknown } ? { readonly localId: string } : unknown
type OwnKeys<Shape extends StepShape> = Exclude<NamesIn<Shape['keys']>, ShardKeyName>
type SharedKeys<Shape extends StepShape> = Extract<NamesIn<Shape['keys']>, ShardKeyName>

type RowQueueKeys<Shape extends StepShape> = {
  [Group in keyof Shape['rows']]: Shape['rows'][Group] extends RowShape
    ? NamesIn<Shape['rows'][Group]['queueKeys']>
    : never
}[keyof Shape['rows']]

/** A row of nothing but `localId` may be that alone. */
type RowValues<Row extends RowShape> =
  | NamedRow<Row>
  | (Row extends { readonly args: readonly ['localId']; readonly keys?: undefined } ? string : never)

type NamedRow<Row extends RowShape> = Readonly<Record<NamesIn<Row['keys']>, string>> &
  Readonly<Record<NamesIn<Row['args']>, Argument>> &
  LocalId<Row>

/** Values that a sender gives for each call, by name. */
type StepValues<Shape extends StepShape> = Needs<
  SharedKeys<Shape> | NamesIn<Shape['queueKeys']> | RowQueueKeys<Shape>,
  { readonly keys: ShardKeys }
> &
  Readonly<Record<OwnKeys<Shape>, string>> &
  Readonly<Record<NamesIn<Shape['args']>, Argument>> &
  LocalId<Shape> & {
    readonly [Group in keyof Shape['rows']]: Shape['rows'][Group] extends RowShape
      ? ReadonlyArray<RowValues<Shape['rows'][Group]>>
      : never
  } & (Shape['rest'] extends string ? Readonly<Record<Shape['rest'], readonly Argument[]>> : unknown)

/** One call of a step, as it is sent: the identical one may be sent again. */
export interface StepCall {
  readonly name: string
  readonly keys: readonly string[]
  readonly args: readonly Argument[]
}

/** A Lua step, described once: the sender and the Lua file both take their names and the order from here. */
export interface Step<Name extends string = string, Shape extends StepShape = StepShape> {
  readonly name: Name
  /** The Lua file. */
  readonly url: URL
  readonly shape: Shape
  /** Makes a call of it. */
  with: (values: StepValues<Shape>) => StepCall
}

/** @param besideUrl `import.meta.url` of the module that sends it; `<name>.lua` lies beside that module */
export function step<const Name extends string, const Shape extends StepShape>(
  name: Name,
  besideUrl: string,
  shape: Shape,
): Step<Name, Shape> {
  return {
    name,
    url: new URL(`./${name}.lua`, besideUrl),
    shape,
    with: (values) => {
      const given = values as unknown as Values
      const keys: string[] = []
      const args: Argument[] = []
      add(shape, given, { keys, args, shardKeys: given.keys })
      for (const group in shape.rows) {
        const rows = given[group] as ReadonlyArray<Values | string>
        args.push(rows.length)
        const to = { keys, args, shardKeys: given.keys }
        for (const row of rows) {
          if (typeof row !== 'string') add(shape.rows[group] as RowShape, row, to)
          else addQueue(shape.rows[group] as RowShape, row, to)
        }
      }
      if (shape.rest !== undefined) args.push(...(given[shape.rest] as readonly Argument[]))
      return { name, keys, args }
    },
  }
}

/** The values of a call or of a row, past the types. */
interface Values {
  readonly keys: ShardKeys
  readonly localId: string
  readonly [name: string]: unknown
}

interface Target {
  readonly keys: string[]
  readonly args: Argument[]
  readonly shardKeys: ShardKeys
}

const NONE: readonly never[] = []

function addQueue({ queueKeys = NONE }: RowShape, localId: string, to: Target): void {
  for (const name of queueKeys) to.keys.push(to.shardKeys.queueKey(name, localId))
  to.args.push(localId)
}

function add(shape: RowShape, values: Values, to: Target): void {
  for (const name of shape.keys ?? NONE) {
    to.keys.push(name in SHARD_KEY_WORDS ? to.shardKeys[name as ShardKeyName] : (values[name] as string))
  }
  for (const name of shape.queueKeys ?? NONE) to.keys.push(to.shardKeys.queueKey(name, values.localId))
  for (const name of shape.args ?? NONE) to.args.push(values[name] as Argument)
}
