/** A command as completion sees it. */
export interface CompletedCommand {
  /** The words from the program on, such as `crons runs`; '' for the program itself. */
  readonly path: string
  readonly subcommands: readonly { readonly name: string; readonly description: string }[]
  readonly options: readonly CompletedOption[]
}

export interface CompletedOption {
  /** The short form, such as `-o`. */
  readonly short: string | null
  /** The long form, such as `--output`. */
  readonly long: string
  readonly takesValue: boolean
  readonly choices: readonly string[]
  readonly description: string
}
