import { useQuery } from '@tanstack/preact-query'
import { useEffect, useState } from 'preact/hooks'
import type { LoginOffer } from '../../../../clients/typescript/src/client.ts'
import { dropLoginCode, hasLoginCode, onLoginCode, openByCode, readOffer } from '../../session/login-code.ts'
import { useMe } from '../../session/me.ts'
import { at } from '../../routing/paths.ts'
import { visible } from '../../format/visible.ts'
import { Confirm } from '../../ui/overlays/dialog.tsx'
import { showToast } from '../../ui/overlays/toast.tsx'
import { refusalText } from './trouble.ts'

/** Asks, of a link that logs in while somebody is logged in, whether to go where it leads. */
export function OtherLogin() {
  // Each link that is opened is another question.
  const [turn, setTurn] = useState(0)
  useEffect(() => onLoginCode(() => setTurn((before) => before + 1)), [])
  const [answered, setAnswered] = useState(-1)
  if (!hasLoginCode() || answered === turn) return null
  return <Question key={turn} turn={turn} onAnswered={() => setAnswered(turn)} />
}

function Question({ turn, onAnswered }: { readonly turn: number; onAnswered(): void }) {
  const me = useMe()
  const { data: offer, error } = useQuery({
    queryKey: ['what a link offers', turn],
    queryFn: readOffer,
    gcTime: 0,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const isSame = offer !== undefined && isOf(offer, me)
  useEffect(() => {
    if (error === null && !isSame) return
    const { team } = me
    if (error !== null) {
      showToast({ tone: 'bad', text: `${refusalText(error, 'link')} You are still in team ${team}.` })
    }
    dropLoginCode()
    onAnswered()
  }, [error, isSame])
  if (offer === undefined || isSame) return null
  return <Switch offer={offer} onAnswered={onAnswered} />
}

function Switch({ offer, onAnswered }: { readonly offer: LoginOffer; onAnswered(): void }) {
  const { team, subject } = useMe()
  const [isBusy, setIsBusy] = useState(false)
  const [fault, setFault] = useState<unknown>(null)
  const isOtherTeam = offer.team !== team
  const [there, here] = [
    visible(isOtherTeam ? offer.team : offer.subject),
    visible(isOtherTeam ? team : subject),
  ]
  const enter = (): void => {
    setIsBusy(true)
    // Everything on the page is of the team before.
    openByCode()
      .then(() => window.location.assign(at('/')), setFault)
      .finally(() => setIsBusy(false))
      .catch(() => undefined)
  }
  return (
    <Confirm
      title={isOtherTeam ? 'Switch to another team?' : 'Log in as somebody else?'}
      verb={`Switch to ${there}`}
      look="main"
      isBusy={isBusy}
      fault={fault}
      onConfirm={enter}
      onClose={() => {
        dropLoginCode()
        onAnswered()
      }}
    >
      <p>
        {isOtherTeam
          ? `This link is for team ${there}, you are in ${here}.`
          : `This link is for ${there}, you are ${here}.`}{' '}
        It logs you in as {visible(offer.subject)}, and ends the session that you have. Go on only if you
        asked for it.
      </p>
    </Confirm>
  )
}

function isOf(offer: LoginOffer, { kind, subject, team }: LoginOffer): boolean {
  return offer.kind === kind && offer.subject === subject && offer.team === team
}
