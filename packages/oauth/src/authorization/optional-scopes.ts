/** Scopes that people may decline on the approval screen (the option `optionalScopes`). */
import type { ServerContext } from '../context.ts'
import { InvalidRequest } from '../errors.ts'
import type { Form } from '../http/form.ts'
import type { ShownScope } from '../pages/pages.ts'
import { isForNamedResources } from '../resources/requested.ts'
import type { GrantDetails } from '../storage/details.ts'
import type { Consent } from '../storage/records.ts'

const FIELD = 'scope:'
const CHECKED_VALUE = 'allow'

/**
 * Describes scopes for the approval screen. The checkbox of a scope that the person declined before
 * stays unticked.
 */
export function describeScopes(
  shownScopeNames: readonly string[],
  consent: Consent | null,
  language: string,
  { options: { scopes, optionalScopes, pageTexts } }: ServerContext,
): ShownScope[] {
  return shownScopeNames.map((id) => ({
    id,
    description: pageTexts.scope(id, language) ?? scopes[id] ?? id,
    checkbox: optionalScopes.has(id)
      ? { name: `${FIELD}${id}`, value: CHECKED_VALUE, checked: !consent?.declined?.includes(id) }
      : null,
  }))
}

/**
 * Reads the consent that the person has given earlier, which determines the checkboxes that are
 * ticked at first. `null` if the request has no optional scope.
 */
export async function findEarlierConsent(
  request: {
    readonly userId: string
    readonly clientId: string
    readonly shown: readonly string[]
  },
  { options: { optionalScopes }, consents }: ServerContext,
): Promise<Consent | null> {
  if (!request.shown.some((name) => optionalScopes.has(name))) return null
  return consents.read(request.userId, request.clientId)
}

/**
 * Returns the optional scopes that the person declined: those whose checkbox is not ticked. A form
 * without checkboxes declines all of them.
 * @throws InvalidRequest if the form approves a scope that was not requested
 */
export function readDeclinedScopes(
  form: Form,
  shown: readonly string[],
  { options: { optionalScopes } }: ServerContext,
): string[] {
  for (const [name, value] of form) {
    if (!name.startsWith(FIELD)) continue
    if (!shown.includes(name.slice(FIELD.length)) || value !== CHECKED_VALUE) {
      throw new InvalidRequest('The form approves a scope that was not requested')
    }
  }
  return shown.filter((name) => optionalScopes.has(name) && !form.has(`${FIELD}${name}`))
}

/** The scopes and details of an authorization request that the person has approved. */
export interface ApprovedAccess {
  readonly scopes: readonly string[]
  readonly details: GrantDetails | null
}

export function removeDeclinedScopes(
  { scopes, details }: ApprovedAccess,
  declined: readonly string[],
): ApprovedAccess {
  if (declined.length === 0) return { scopes, details }
  const isLeft = (name: string) => !declined.includes(name)
  return { scopes: scopes.filter(isLeft), details: details && dropShownClaims(details, isLeft) }
}

function dropShownClaims(
  { alsoShown, ...details }: GrantDetails,
  isLeft: (name: string) => boolean,
): GrantDetails {
  const left = alsoShown?.filter(isLeft) ?? []
  return left.length === 0 ? details : { ...details, alsoShown: left }
}

/**
 * Builds the consent to remember, with the approved scopes. A scope such as `email` also counts as
 * approved if the request asked only for a claim that belongs to it. Returns `null` if access to
 * other APIs was requested, because that approval must not count for the server's own API.
 */
export function buildConsent(
  consentKeys: { readonly userId: string; readonly clientId: string },
  { scopes, details }: ApprovedAccess,
  declined: readonly string[],
  at: Date,
): Consent | null {
  const { userId, clientId } = consentKeys
  if (isForNamedResources(details)) return null
  const approved = [...scopes, ...(details?.alsoShown ?? [])]
  return { userId, clientId, scopes: approved, declined, updatedAt: at }
}
