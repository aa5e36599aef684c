import { isUnverifiedSelfRegistered } from '../clients/self-registered.ts'
import type { Client, Consent } from '../storage/records.ts'

export interface SilentApprovalInput {
  readonly client: Client
  readonly redirectTo: string
  readonly scopes: readonly string[]
  /** Whether the authorization request is for an API other than the server's own. */
  readonly elsewhere: boolean
  readonly consent: Consent | null
  /**
   * Scopes that people may decline. A scope that the person has declined before is not shown again.
   */
  readonly optional: ReadonlySet<string>
  /** Whether the client demands the approval screen (`prompt=consent`). */
  readonly askAgain: boolean
}

/**
 * Whether an authorization request may be answered without showing the approval screen. The screen
 * is always shown for public clients, because any program can use their client id (RFC 6819
 * §5.2.3.2), except for first-party clients with an https redirect URI. It is always shown for
 * self-registered clients that are not verified. A remembered consent counts only for the server's
 * own API.
 */
export function mayApproveSilently(approvalInput: SilentApprovalInput): boolean {
  const { client, consent, scopes } = approvalInput
  if (approvalInput.askAgain || isUnverifiedSelfRegistered(client)) return false
  const proven = client.confidential
  if (client.firstParty) return proven || approvalInput.redirectTo.startsWith('https://')
  if (!proven || consent === null || approvalInput.elsewhere) return false
  const declined = listPreviouslyDeclinedScopes(approvalInput)
  return scopes.every((name) => consent.scopes.includes(name) || declined.includes(name))
}

/**
 * Returns the requested scopes that the person has declined before and that are still optional.
 * Those scopes are neither shown again nor granted.
 */
export function listPreviouslyDeclinedScopes({
  scopes,
  consent,
  optional,
}: Pick<SilentApprovalInput, 'scopes' | 'consent' | 'optional'>): string[] {
  if (!consent?.declined) return []
  const { scopes: approved, declined } = consent
  return scopes.filter(
    (name) => optional.has(name) && declined.includes(name) && !approved.includes(name),
  )
}
