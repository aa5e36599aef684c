import { createHash } from 'node:crypto'
import {
  type AuthenticationResponseJSON,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server'
import { isUniqueViolation } from '@tollgate/database'
import type { Clock } from '@tollgate/oauth'
import { z } from 'zod'
import { defineError } from '../service-error.ts'
import { type PasskeyRow, passkeyTable, type ServiceDatabase } from '../storage/tables.ts'
import { type Challenges, createChallenges } from './challenges.ts'

/** A passkey as its owner sees it. */
export interface Passkey {
  /** Hash of the credential id, which identifies the passkey in the database. */
  readonly id: string
  readonly name: string
  readonly createdAt: Date
  readonly lastUsedAt: Date | null
}

/**
 * Result of verifying a passkey: the owner of the passkey, and whether the authenticator verified
 * the person.
 */
export interface ProvedPasskey {
  readonly userId: string
  /** Whether the authenticator verified the person, by a PIN or a fingerprint. */
  readonly isVerified: boolean
  /** Whether the passkey was not removed meanwhile. */
  readonly stillHolds: () => Promise<boolean>
}

/**
 * Why a passkey was refused. `expired`: the challenge is old or was used. `cloned`: the signature
 * counter did not increase. `invalid`: everything else.
 */
export type PasskeyRefusal = 'expired' | 'cloned' | 'invalid' | 'taken' | 'too-many'

/** Thrown if a passkey is not accepted: see `reason`. */
export class PasskeyRefused extends defineError('forbidden') {
  readonly reason: PasskeyRefusal

  constructor(reason: PasskeyRefusal, cause?: unknown) {
    super(`The passkey was refused: ${reason}`, { cause })
    this.reason = reason
  }
}

/** Runs a write, or throws if it must not happen any more. */
export type Store = <T>(write: () => Promise<T>) => Promise<T>

export interface Passkeys {
  /** Whether browsers can use passkeys at the URL of the service, which needs a host name. */
  readonly isPossible: boolean
  list(userId: string): Promise<Passkey[]>
  /** Creates options for `navigator.credentials.create()`, which registers a passkey. */
  registration(
    user: { readonly id: string; readonly email: string; readonly name: string | null },
    session: string,
  ): Promise<PublicKeyCredentialCreationOptionsJSON>
  /**
   * Stores the passkey that a browser created with options for the same session. `store` runs the
   * write after the response was verified, for example while the session is open.
   * @throws PasskeyRefused
   */
  register(
    userId: string,
    passkey: { readonly session: string; readonly response: string; readonly name: string },
    store?: Store,
  ): Promise<Passkey>
  /**
   * Creates options for `navigator.credentials.get()`, which asks for a passkey: for the passkeys
   * of a person, or with `userId` null for any passkey that the browser knows.
   */
  request(userId: string | null, session: string): Promise<PublicKeyCredentialRequestOptionsJSON>
  /**
   * Verifies the response of a browser to the options of the same session. With `userId` null, the
   * authenticator must have verified the person.
   * @throws PasskeyRefused
   */
  verify(userId: string | null, session: string, response: string): Promise<ProvedPasskey>
  /** Renames a passkey of the person. Returns `false` if there is none with this id. */
  rename(userId: string, id: string, name: string): Promise<boolean>
  /** Deletes a passkey of the person. Returns `false` if there is none with this id. */
  remove(userId: string, id: string): Promise<boolean>
}

/** Maximum number of passkeys of a person. */
export const MAX_PASSKEYS = 20

/** EdDSA, ES256 and RS256: one of them is offered by every authenticator. */
const ALGORITHMS = [-8, -7, -257]

const TIMEOUT = 5 * 60_000

const text = z.string().max(16_384)

const registrationShape = z.object({
  id: text,
  rawId: text,
  type: z.literal('public-key'),
  response: z.object({
    clientDataJSON: text,
    attestationObject: text,
    transports: z
      .array(z.string().regex(/^[a-z-]{1,20}$/))
      .max(8)
      .catch([]),
  }),
})

const authenticationShape = z.object({
  id: text,
  rawId: text,
  type: z.literal('public-key'),
  response: z.object({
    clientDataJSON: text,
    authenticatorData: text,
    signature: text,
    userHandle: text.nullish(),
  }),
})

/** Reads the name of a passkey. */
export function parsePasskeyName(typedName: string | null, fallback: string): string {
  const name = (typedName ?? '')
    .replace(/\p{Cc}/gu, ' ')
    .trim()
    .slice(0, 100)
  return name === '' ? fallback.slice(0, 100) : name
}

export function createPasskeys(options: {
  readonly database: ServiceDatabase
  readonly clock: Clock
  readonly secrets: readonly string[]
  /** Public base URL of the service. */
  readonly url: string
  /** Name of the service, which authenticators show. */
  readonly serviceName: string
}): Passkeys {
  const { clock, serviceName, database } = options
  const { origin, hostname } = new URL(options.url)
  const challenges: Challenges = createChallenges(options)

  const rowsOf = (userId: string) =>
    database.kysely
      .selectFrom('passkeys')
      .selectAll()
      .where('user_id', '=', Number(userId))
      .orderBy('created_at')
      .orderBy('id_hash')
      .execute()

  /** Uses up the challenge in a response, before anything else is looked at. */
  async function takeChallenge(
    response: { readonly clientDataJSON: string },
    binding: string,
  ): Promise<string> {
    const challenge = readChallenge(response)
    if (!(await challenges.use(challenge, binding))) throw new PasskeyRefused('expired')
    return challenge
  }

  return {
    isPossible: /[a-z]/i.test(hostname) && !hostname.startsWith('['),
    async list(userId) {
      return (await rowsOf(userId)).map(fromRow)
    },
    async registration({ id, email, name }, session) {
      const known = await rowsOf(id)
      return generateRegistrationOptions({
        rpName: serviceName,
        rpID: hostname,
        userName: email,
        userDisplayName: name ?? email,
        userID: new Uint8Array(Buffer.from(id)),
        challenge: challenges.create(bindTo('register', id, session)),
        timeout: TIMEOUT,
        attestationType: 'none',
        excludeCredentials: known.map(toDescriptor),
        authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
        supportedAlgorithmIDs: ALGORITHMS,
      })
    },
    async register(userId, { session, response, name }, store = (write) => write()) {
      const { transports, ...parsed } = parseRegistration(response)
      const challenge = await takeChallenge(parsed.response, bindTo('register', userId, session))
      const verified = await refusing(() =>
        verifyRegistrationResponse({
          response: parsed,
          expectedChallenge: challenge,
          expectedOrigin: origin,
          expectedRPID: hostname,
          requireUserVerification: false,
          supportedAlgorithmIDs: ALGORITHMS,
        }),
      )
      if (!verified.verified) throw new PasskeyRefused('invalid')
      const { credential } = verified.registrationInfo
      if ((await rowsOf(userId)).length >= MAX_PASSKEYS) throw new PasskeyRefused('too-many')
      const row = passkeyTable.toRow({
        idHash: hashCredentialId(credential.id),
        userId: Number(userId),
        credentialId: credential.id,
        publicKey: Buffer.from(credential.publicKey).toString('base64url'),
        counter: credential.counter,
        transports: transports.join(' '),
        name: parsePasskeyName(name, 'Passkey'),
        createdAt: clock.now(),
        lastUsedAt: null,
      })
      try {
        await store(() => database.kysely.insertInto('passkeys').values(row).execute())
      } catch (error) {
        if (isUniqueViolation(error)) throw new PasskeyRefused('taken', error)
        throw error
      }
      return fromRow(row)
    },
    async request(userId, session) {
      const known = userId === null ? [] : await rowsOf(userId)
      return generateAuthenticationOptions({
        rpID: hostname,
        challenge: challenges.create(bindTo('sign-in', userId ?? '', session)),
        timeout: TIMEOUT,
        userVerification: userId === null ? 'required' : 'preferred',
        ...(userId !== null && { allowCredentials: known.map(toDescriptor) }),
      })
    },
    async verify(userId, session, response) {
      const parsed = parseAuthentication(response)
      const binding = bindTo('sign-in', userId ?? '', session)
      const challenge = await takeChallenge(parsed.response, binding)
      const row = await database.kysely
        .selectFrom('passkeys')
        .selectAll()
        .where('id_hash', '=', hashCredentialId(parsed.id))
        .executeTakeFirst()
      if (!row || (userId !== null && row.user_id !== Number(userId))) {
        throw new PasskeyRefused('invalid')
      }
      const { userHandle } = parsed.response
      if (userHandle && Buffer.from(userHandle, 'base64url').toString() !== String(row.user_id)) {
        throw new PasskeyRefused('invalid')
      }
      const { verified, authenticationInfo } = await refusing(() =>
        verifyAuthenticationResponse({
          response: parsed,
          expectedChallenge: challenge,
          expectedOrigin: origin,
          expectedRPID: hostname,
          requireUserVerification: userId === null,
          credential: {
            id: row.credential_id,
            publicKey: new Uint8Array(Buffer.from(row.public_key, 'base64url')),
            // The counter is compared below, together with the change of the row.
            counter: 0,
          },
        }),
      )
      if (!verified) throw new PasskeyRefused('invalid')
      await advanceCounter(row, authenticationInfo.newCounter)
      return {
        userId: String(row.user_id),
        isVerified: authenticationInfo.userVerified,
        stillHolds: async () =>
          (await rowsOf(String(row.user_id))).some(({ id_hash }) => id_hash === row.id_hash),
      }
    },
    async rename(userId, id, name) {
      const { numUpdatedRows } = await database.kysely
        .updateTable('passkeys')
        .set({ name })
        .where('id_hash', '=', id)
        .where('user_id', '=', Number(userId))
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },
    async remove(userId, id) {
      const { numDeletedRows } = await database.kysely
        .deleteFrom('passkeys')
        .where('id_hash', '=', id)
        .where('user_id', '=', Number(userId))
        .executeTakeFirst()
      return numDeletedRows > 0n
    },
  }

  /**
   * Stores the new signature counter, unless it did not increase: then there are two copies of the
   * authenticator (WebAuthn §6.1.1). Authenticators without a counter always send 0.
   */
  async function advanceCounter(row: PasskeyRow, counter: number): Promise<void> {
    const { numUpdatedRows } = await database.kysely
      .updateTable('passkeys')
      .set(changed.toChange({ counter, lastUsedAt: clock.now() }))
      .where('id_hash', '=', row.id_hash)
      .where((eb) => (counter === 0 ? eb('counter', '=', 0) : eb('counter', '<', counter)))
      .executeTakeFirst()
    if (numUpdatedRows === 0n) throw new PasskeyRefused('cloned')
  }
}

const changed = passkeyTable.pick('counter', 'last_used_at')

/** Binds a challenge to its purpose, to the person and to the session or page. */
function bindTo(purpose: 'register' | 'sign-in', userId: string, session: string): string {
  return `${purpose}\n${userId}\n${session}`
}

function hashCredentialId(id: string): string {
  return createHash('sha256').update(id).digest('base64url')
}

function toDescriptor(row: PasskeyRow) {
  const { transports } = passkeyTable.fromRow(row)
  return {
    id: row.credential_id,
    ...(transports !== '' && { transports: transports.split(' ') }),
  }
}

function fromRow(row: PasskeyRow): Passkey {
  const { idHash: id, name, createdAt, lastUsedAt } = passkeyTable.fromRow(row)
  return { id, name, createdAt, lastUsedAt }
}

function parseRegistration(
  json: string,
): RegistrationResponseJSON & { readonly transports: readonly string[] } {
  const { response, ...credential } = parseJson(registrationShape, json)
  const { transports, ...attested } = response
  return { ...credential, response: attested, clientExtensionResults: {}, transports }
}

function parseAuthentication(json: string): AuthenticationResponseJSON {
  const { response, ...credential } = parseJson(authenticationShape, json)
  const { userHandle, ...signed } = response
  return {
    ...credential,
    response: { ...signed, ...(userHandle && { userHandle }) },
    clientExtensionResults: {},
  }
}

/** Runs the library, which throws plain errors for whatever a browser may have sent. */
async function refusing<T>(verify: () => Promise<T>): Promise<T> {
  try {
    return await verify()
  } catch (error) {
    throw new PasskeyRefused('invalid', error)
  }
}

const clientData = z.object({ challenge: text })

/** Reads the challenge that the browser has signed. The library checks the signature later. */
function readChallenge(response: { readonly clientDataJSON: string }): string {
  const json = Buffer.from(response.clientDataJSON, 'base64url').toString()
  return parseJson(clientData, json).challenge
}

function parseJson<T>(shape: z.ZodType<T>, json: string): T {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (cause) {
    throw new PasskeyRefused('invalid', cause)
  }
  const parsed = shape.safeParse(value)
  if (!parsed.success) throw new PasskeyRefused('invalid')
  return parsed.data
}
