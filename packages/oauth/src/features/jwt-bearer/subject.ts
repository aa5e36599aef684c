import type { ServerContext } from '../../context.ts'
import { InvalidGrant } from '../../errors.ts'
import type { Client } from '../../storage/records.ts'
import type { VerifiedAssertion } from './assertion.ts'
import type { AssertedIdentity, IdentityMapping } from './settings.ts'

/** Exactly one `@`, so that every parser finds the same domain. */
const ADDRESS = /^[^\s@]+@([^\s@]+)$/

/**
 * Finds the user that the identity in an assertion belongs to. Returns `null` if the assertion is
 * for the client itself.
 * @throws InvalidGrant if the identity is unknown
 */
export async function findAssertionSubject(
  assertion: VerifiedAssertion,
  client: Client,
  context: ServerContext,
): Promise<string | null> {
  const { settings, claims, ...named } = assertion
  const identity: AssertedIdentity = { ...named, claims }
  if (settings.clientOf) {
    const id = await lookUp(settings.clientOf, identity)
    if (id === client.id) return null
    throw unknown()
  }
  const known = settings.userOf && (await lookUp(settings.userOf, identity))
  const userId = known ?? (await findByEmail(assertion, identity))
  // A deleted user is indistinguishable from one that never existed.
  if (userId === null || !(await context.userExists(userId))) throw unknown()
  return userId
}

async function lookUp(mapping: IdentityMapping, identity: AssertedIdentity) {
  if (typeof mapping === 'function') return textOf(await mapping(identity))
  return Object.hasOwn(mapping, identity.subject) ? textOf(mapping[identity.subject]) : null
}

/**
 * Finds the user by e-mail address, only if the issuer may vouch for the domain of the address and
 * states that the address was verified.
 */
async function findByEmail(
  { settings: { userByEmail, emailDomains }, claims }: VerifiedAssertion,
  identity: AssertedIdentity,
): Promise<string | null> {
  const { email, email_verified } = claims
  if (!userByEmail || typeof email !== 'string' || email_verified !== true) return null
  const domain = ADDRESS.exec(email)?.[1]?.toLowerCase()
  if (domain === undefined || !emailDomains.has(domain)) return null
  return textOf(await userByEmail(email, identity))
}

function textOf(id: string | number | null | undefined): string | null {
  return id === null || id === undefined ? null : String(id)
}

function unknown(): InvalidGrant {
  return new InvalidGrant(
    'The assertion is about a person or workload that this server does not know',
  )
}
