import { expect, it } from 'vitest'
import { systemClock } from '../clock.ts'
import { followRevocations } from '../revocations/feed.ts'
import { memoryStorage } from '../storage/memory.ts'
import { createKnownUsers } from '../users/known-users.ts'
import { createTokenVerifier } from './verify.ts'

const issuer = 'https://api.example.com'
const exp = Math.floor(Date.now() / 1000) + 60

/** Takes `ada.<signature>` for a token of Ada's. */
async function verifierOfNames() {
  const feed = followRevocations(memoryStorage().revocations, console)
  await feed.sync()
  return createTokenVerifier({
    accessTokens: {
      decode: async (text) => {
        const [name] = text.split('.')
        const shared = { iss: issuer, aud: issuer, client_id: 'shop', iat: 0, exp, scope: '' }
        return { ...shared, sub: `user:${name}`, jti: `${name}.0` }
      },
    },
    keys: { removals: () => 0 },
    feed,
    knownUsers: createKnownUsers({
      users: { findById: (id) => ({ id }) },
      logger: { error: () => {} },
    }),
    issuer,
    audiences: new Set([issuer]),
    clock: systemClock,
  })
}

it('tells tokens apart that end alike, however often they take turns', async () => {
  const verifier = await verifierOfNames()
  for (const name of ['ada', 'bob', 'ada', 'ada', 'bob', 'bob']) {
    const text = `${name}.the-same-signature`
    const { subject } = await verifier.verify(text)
    expect(subject).toEqual({ kind: 'user', id: name })
    expect(verifier.verifyHeader(`Bearer ${text}`)).toMatchObject({ subject: { id: name } })
  }
  expect(verifier.verifyHeader('Bearer eve.the-same-signature')).toBeInstanceOf(Promise)
})
