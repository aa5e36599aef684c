import type { FC } from 'hono/jsx'
import { usePage } from '../../parts/layout.tsx'

export const AUDIT_LOG_PATH = '/admin/audit'

/** An entry of the audit log, as the operations return it. */
export interface EntryJson {
  readonly id: string
  readonly at: string
  readonly actor: {
    readonly kind: string
    readonly id: string | null
    readonly email: string | null
    readonly address: string | null
  }
  readonly door: string
  readonly operation: string
  readonly outcome: string
  readonly subject: { readonly kind: string; readonly id: string | null } | null
  readonly owner: string | null
  readonly details: Readonly<Record<string, unknown>>
  readonly personal: Readonly<Record<string, string>>
  readonly intent_id: string | null
  readonly number: number | null
  readonly chained_at: string | null
  readonly hash: string | null
}

export const OUTCOMES = ['done', 'started', 'failed', 'refused'] as const
export const ACTOR_KINDS = ['operator', 'client', 'command'] as const
const DOORS = ['page', 'api', 'command'] as const

const TONES = {
  done: 'badge good',
  started: 'badge warning',
  failed: 'badge bad',
  refused: 'badge bad',
} as const

/** The outcome of an act. An unknown word, from a forged entry, is shown as it is. */
export const OutcomeLabel: FC<{ outcome: string }> = ({ outcome }) => {
  const known = OUTCOMES.find((each) => each === outcome)
  if (!known) return <span class="badge bad">{outcome}</span>
  return <span class={TONES[known]}>{usePage().t(`adminAudit.outcome.${known}`)}</span>
}

/** How the operation was called: on a page, through the API, or by a command. */
export const ChannelName: FC<{ door: string }> = ({ door }) => {
  const known = DOORS.find((each) => each === door)
  return <span>{known ? usePage().t(`adminAudit.door.${known}`) : door}</span>
}

/**
 * The actor. An operator is shown by e-mail address until that is deleted, other actors by their
 * id.
 */
export const ActorName: FC<{ actor: EntryJson['actor'] }> = ({ actor: { kind, id, email } }) => (
  <ObjectLink kind={kind === 'operator' ? 'user' : kind} id={id} name={email} />
)

const PLACES: Readonly<Record<string, string>> = {
  user: '/admin/people',
  client: '/admin/applications',
  team: '/admin/teams',
}

/** An object by its kind and id, with a link to its page if it has one. */
export const ObjectLink: FC<{ kind: string; id: string | null; name?: string | null }> = (
  props,
) => {
  const { kind, id, name = null } = props
  const place = Object.hasOwn(PLACES, kind) ? PLACES[kind] : undefined
  const label = name === null ? <code>{`${kind} ${id ?? ''}`}</code> : <bdi>{name}</bdi>
  if (id === null || place === undefined) return <span>{label}</span>
  return <a href={`${place}/${encodeURIComponent(id)}`}>{label}</a>
}

/** Returns the URL of the list of all entries about an object. */
export function buildAuditUrl(kind: string, id: string): string {
  return `${AUDIT_LOG_PATH}?${new URLSearchParams({ subject_kind: kind, subject_id: id })}`
}
