import type { Consent } from './records.ts'

/**
 * What is remembered when somebody approves once more. It adds to what was approved before: asking for less
 * today takes nothing back. What they leave out today is taken back, though they had approved it before.
 */
export function mergeConsents(before: Consent | null, now: Consent): Consent {
  const approved = new Set(now.scopes)
  const left = new Set(now.declined ?? [])
  const scopes = (before?.scopes ?? []).filter((name) => !left.has(name))
  const declined = (before?.declined ?? []).filter((name) => !approved.has(name))
  const allDeclined = [...new Set([...declined, ...left])]
  return {
    ...now,
    scopes: [...new Set([...scopes, ...now.scopes])],
    declined: allDeclined.length === 0 ? null : allDeclined,
  }
}
