import type { Consent } from './records.ts'

/**
 * Merges the consent of a new approval (`now`) with the stored consent (`storedConsent`). Earlier
 * scopes stay approved if the new request does not ask for them, and are withdrawn if the user
 * declines them now.
 */
export function mergeConsents(storedConsent: Consent | null, now: Consent): Consent {
  const approved = new Set(now.scopes)
  const left = new Set(now.declined ?? [])
  const scopes = (storedConsent?.scopes ?? []).filter((name) => !left.has(name))
  const declined = (storedConsent?.declined ?? []).filter((name) => !approved.has(name))
  const allDeclined = [...new Set([...declined, ...left])]
  return {
    ...now,
    scopes: [...new Set([...scopes, ...now.scopes])],
    declined: allDeclined.length === 0 ? null : allDeclined,
  }
}
