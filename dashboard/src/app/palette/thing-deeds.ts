import { useLocation } from 'preact-iso'
import { useChange } from '../../editing/changes.ts'
import { at } from '../../routing/paths.ts'
import { useMe } from '../../session/me.ts'
import type { Choice } from '../../ui/overlays/picker.tsx'
import { showToast } from '../../ui/overlays/toast.tsx'
import type { Thing } from './thing.ts'

type Deed = Omit<Choice, 'key'>

/** What else can be done with a queue or a cron: most of it by the form or the list that is for it. */
export function useThingDeeds(): (thing: Thing) => readonly Choice[] {
  const { route } = useLocation()
  const { may } = useMe()
  const run = useChange((api, { id }: Thing) => api.runCron({ cron_id: id }), {
    onDone: ({ job_id: job }, { name }) =>
      showToast({
        tone: 'good',
        text: `“${name}” runs now`,
        action: { label: 'Show it', href: at(`/jobs/${job}`) },
      }),
  })
  return (thing) => {
    const { kind, id, name, page } = thing
    const led = (path: string, query: Readonly<Record<string, string>>) => () => route(at(path, query))
    const edit = led(page, { edit: 'settings' })
    const mute = led('/maintenance', { new: 'mute', resource: `${kind}/${id}` })
    const deeds: readonly Deed[] = [
      ...(kind === 'cron' && may.operate
        ? [{ label: `Run cron ${name} now`, icon: 'fire', run: () => run.mutate(thing) } as const]
        : []),
      ...(kind === 'queue' && may.push
        ? [{ label: `Send a job to ${name}`, icon: 'send', run: led('/send', { queue: name }) } as const]
        : []),
      ...(kind === 'queue'
        ? [
            {
              label: `Dead letters of ${name}`,
              icon: 'dead',
              words: 'replay purge',
              run: led('/dead-letters', { queue: name }),
            } as const,
          ]
        : []),
      ...(may.operate
        ? [{ label: `Mute ${kind} ${name} …`, icon: 'window', words: 'silence hold', run: mute } as const]
        : []),
      ...(may.edit
        ? [{ label: `Edit ${kind} ${name}`, icon: 'edit', words: 'settings change', run: edit } as const]
        : []),
    ]
    return deeds.map((deed) => ({ ...deed, key: `${deed.label} ${page}` }))
  }
}
