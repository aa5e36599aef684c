/** Scopes that people may leave out when they approve (the option `optionalScopes`). */
import type { ServerContext } from '../context.ts'
import { InvalidRequest } from '../errors.ts'
import type { Form } from '../http/form.ts'
import type { ShownScope } from '../pages/pages.ts'
import { isElsewhere } from '../resources/requested.ts'
import type { GrantDetails } from '../storage/details.ts'
import type { Consent } from '../storage/records.ts'

const FIELD = 'scope:'
const TICKED = 'allow'

/** As a page shows them. What somebody has left out before is not ticked again behind their back. */
export function describeScopes(
  shown: readonly string[],
  consent: Consent | null,
  { options: { scopes, optionalScopes } }: ServerContext,
): ShownScope[] {
  return shown.map((id) => ({
    id,
    description: scopes[id] ?? id,
    checkbox: optionalScopes.has(id)
      ? { name: `${FIELD}${id}`, value: TICKED, checked: !consent?.declined?.includes(id) }
      : null,
  }))
}

/** What was approved before, where that changes what is shown. */
export async function findChoice(
  asked: { readonly userId: string; readonly clientId: string; readonly shown: readonly string[] },
  { options: { optionalScopes }, consents }: ServerContext,
): Promise<Consent | null> {
  if (!asked.shown.some((name) => optionalScopes.has(name))) return null
  return consents.read(asked.userId, asked.clientId)
}

/**
 * Those that the person has left out. Only ticked ones are approved: a form without checkboxes approves none of
 * them. One that names more than was asked for is not ours.
 */
export function readDeclined(
  form: Form,
  shown: readonly string[],
  { options: { optionalScopes } }: ServerContext,
): string[] {
  for (const [name, value] of form) {
    if (!name.startsWith(FIELD)) continue
    if (!shown.includes(name.slice(FIELD.length)) || value !== TICKED) {
      throw new InvalidRequest('The form approves something that was not asked for')
    }
  }
  return shown.filter((name) => optionalScopes.has(name) && !form.has(`${FIELD}${name}`))
}

/** What is left of a request. */
export interface ApprovedShare {
  readonly scopes: readonly string[]
  readonly details: GrantDetails | null
}

export function withoutDeclined(
  { scopes, details }: ApprovedShare,
  declined: readonly string[],
): ApprovedShare {
  if (declined.length === 0) return { scopes, details }
  const isLeft = (name: string) => !declined.includes(name)
  return { scopes: scopes.filter(isLeft), details: details && withoutShown(details, isLeft) }
}

function withoutShown(
  { alsoShown, ...details }: GrantDetails,
  isLeft: (name: string) => boolean,
): GrantDetails {
  const left = alsoShown?.filter(isLeft) ?? []
  return left.length === 0 ? details : { ...details, alsoShown: left }
}

/**
 * What is remembered of an approval: the scopes, and those of which single claims were asked for. Nothing of one
 * for another API, because it must not stand for the server's own.
 */
export function consentTo(
  who: { readonly userId: string; readonly clientId: string },
  { scopes, details }: ApprovedShare,
  declined: readonly string[],
  at: Date,
): Consent | null {
  const { userId, clientId } = who
  if (isElsewhere(details)) return null
  const approved = [...scopes, ...(details?.alsoShown ?? [])]
  return { userId, clientId, scopes: approved, declined, updatedAt: at }
}
