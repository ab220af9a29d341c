import { useMay } from '../../session/me.ts'
import { useWindows } from '../../api/windows.ts'
import { at } from '../../routing/paths.ts'
import { useUrlQuery } from '../../routing/url-query.ts'
import { plural } from '../../format/numbers.ts'
import { LinkButton } from '../../ui/button.tsx'
import { Empty, QueryStatus } from '../../ui/page/empty.tsx'
import { Page, Panel } from '../../ui/page/page.tsx'
import { Calendar } from './calendar.tsx'
import { EditWindow, NewWindow } from './window-dialog.tsx'
import { WindowList } from './window-list.tsx'

/** When alerts are muted or jobs held: a calendar, and the windows that make it. */
export function Maintenance() {
  const query = useUrlQuery()
  const { new: asked, window, resource = '' } = query.values
  const windows = useWindows()
  const mayOperate = useMay('operate')
  const all = windows.data?.windows ?? []
  const close = (): void => query.set({ new: null, window: null, resource: null })
  return (
    <Page
      title="Maintenance"
      actions={
        mayOperate && (
          <LinkButton look="main" icon="plus" href={at('/maintenance', { ...query.values, new: 'mute' })}>
            New window
          </LinkButton>
        )
      }
    >
      <QueryStatus query={windows} what="maintenance windows" />
      {windows.isSuccess && all.length === 0 && (
        <Panel>
          <Empty icon="window" title="No maintenance windows">
            <p>
              A window is a time in which you expect trouble: alerts of a queue, a cron or the whole team are
              stored and not sent, and jobs wait as well if you like.
            </p>
          </Empty>
        </Panel>
      )}
      {all.length > 0 && (
        <>
          <Calendar windows={all} query={query} />
          <Panel isFlush title={plural(all.length, 'window')}>
            <WindowList windows={all} />
          </Panel>
        </>
      )}
      {mayOperate && asked !== undefined && (
        <NewWindow given={{ action: asked === 'hold' ? 'hold' : 'mute', resource }} onClose={close} />
      )}
      {mayOperate && window !== undefined && <EditWindow key={window} id={window} onClose={close} />}
    </Page>
  )
}
