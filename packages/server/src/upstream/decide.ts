import type { UpstreamIdentity } from './providers/provider.ts'

/** A person whom another provider has identified, and the accounts that may belong to them. */
export interface IdentifiedPerson {
  readonly identity: Pick<UpstreamIdentity, 'email' | 'isEmailVerified'>
  /** The account that the identity is linked with. `null` if it is linked with none. */
  readonly linked: { readonly userId: string; readonly isEnabled: boolean } | null
  /** The account that has the address of the identity. `null` if there is none. */
  readonly holder: { readonly userId: string } | null
  /** The signed-in person who wants to link the identity. `null` for a sign-in. */
  readonly linkFor: string | null
  /** Whether anyone may create an account. */
  readonly registration: boolean
}

/** Why a person is not signed in. Each has a text on the page. */
export type SignInRefusal = 'linkedElsewhere' | 'disabled' | 'unverified' | 'closed'

export type SignInDecision =
  | { readonly kind: 'sign-in'; readonly userId: string }
  /** The person must first sign in to this account in another way. */
  | { readonly kind: 'confirm'; readonly userId: string }
  | { readonly kind: 'create' }
  | { readonly kind: 'link'; readonly userId: string }
  | { readonly kind: 'refuse'; readonly because: SignInRefusal }

/**
 * Decides what an identity at another provider allows. An address never signs anyone in: only a link
 * does, and an account gets a link only from a person who is signed in to it.
 */
export function decideSignIn(person: IdentifiedPerson): SignInDecision {
  const { identity, linked, holder, linkFor, registration } = person
  if (linkFor !== null) {
    return linked === null || linked.userId === linkFor
      ? { kind: 'link', userId: linkFor }
      : { kind: 'refuse', because: 'linkedElsewhere' }
  }
  if (linked) {
    return linked.isEnabled
      ? { kind: 'sign-in', userId: linked.userId }
      : { kind: 'refuse', because: 'disabled' }
  }
  // Without a verified address nothing is said about accounts, not even whether there is one.
  if (identity.email === null || !identity.isEmailVerified) {
    return { kind: 'refuse', because: 'unverified' }
  }
  if (holder) return { kind: 'confirm', userId: holder.userId }
  return registration ? { kind: 'create' } : { kind: 'refuse', because: 'closed' }
}
