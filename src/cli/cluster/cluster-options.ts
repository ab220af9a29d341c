import type { Command } from 'commander'

/** Adds to every command that talks to the API how `kubectl punctual` finds it. */
export function addClusterOptions(command: Command): void {
  if (command.options.some(({ long }) => long === '--server')) {
    command
      .option('-n, --namespace <namespace>', 'namespace of the team (default: that of the context)')
      .option('--context <context>', 'context of the kubeconfig')
      .option('--kubeconfig <file>', 'kubeconfig to use')
      .option('--system-namespace <namespace>', 'where Punctual is installed (default: looked for)')
      .option(
        '--token-secret <name/key>',
        'a Secret of the namespace that holds a token (default key: token)',
      )
  }
  for (const below of command.commands) addClusterOptions(below)
}
