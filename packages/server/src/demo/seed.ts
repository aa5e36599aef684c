import { randomBytes } from 'node:crypto'
import type { AuthorizationServer, NewClient } from '@tollgate/oauth'
import type { User } from '../users/user.ts'
import type { UserAccounts } from '../users/users.ts'
import type { BothProviders } from './providers.ts'
import {
  type DemoClient,
  type DemoClientName,
  type DemoState,
  type RunningSandbox,
  readStateFile,
  writeStateFile,
} from './state-file.ts'

const EMAIL = 'demo@example.com'

/** One client of each kind, so that every flow can be tried. */
function describeDemoClients(url: string, userId: string): Record<DemoClientName, NewClient> {
  const redirect = `${url}/callback`
  return {
    web: { name: 'Demo web application', redirect, userId },
    password: {
      name: 'Demo first-party application',
      redirect,
      grants: ['password', 'refresh_token', 'authorization_code'],
    },
    public: { name: 'Demo mobile application', redirect, userId, confidential: false },
    implicit: {
      name: 'Demo browser application',
      redirect,
      userId,
      confidential: false,
      grants: ['implicit'],
    },
    service: { name: 'Demo background service', grants: ['client_credentials'] },
  }
}

/**
 * Creates the user and clients of a demo, unless they exist. Their passwords and secrets are
 * random, and are stored only in the data folder.
 */
export async function seedDemo(options: {
  readonly dataDir: string | null
  readonly url: string
  readonly users: UserAccounts
  readonly oauth: AuthorizationServer<User>
  readonly stripeWebhook: DemoState['stripeWebhook']
  /** Whether to create the clients. The setting `fapi2` rejects them. */
  readonly withClients: boolean
  readonly sandbox: BothProviders
}): Promise<DemoState> {
  const { dataDir, users, oauth, url, stripeWebhook, sandbox } = options
  const kept = dataDir === null ? {} : readStateFile(dataDir)
  const password = kept.password ?? randomBytes(9).toString('base64url')
  const user = await ensureUser(users, password, kept.password !== undefined)
  const clients: Partial<Record<DemoClientName, DemoClient>> = {}
  const all = options.withClients ? Object.entries(describeDemoClients(url, user.id)) : []
  for (const [name, wanted] of all) {
    const known = kept.clients?.[name as DemoClientName]
    clients[name as DemoClientName] = await ensureClient(oauth, known, wanted)
  }
  const running = describeSandboxAddresses(sandbox)
  const state: DemoState = { email: EMAIL, password, clients, stripeWebhook, running }
  // Keep clients that cannot be used with the present settings, for when they can.
  if (dataDir !== null)
    writeStateFile(dataDir, { ...state, clients: { ...kept.clients, ...clients } })
  return state
}

function describeSandboxAddresses({
  stripe,
  braintree,
  controlRoom,
  mail,
}: BothProviders): RunningSandbox {
  const { merchantId, publicKey, privateKey } = braintree.config
  return {
    stripe: stripe.url,
    stripeKey: stripe.apiKey,
    braintree: braintree.url,
    braintreeKeys: { merchantId, publicKey, privateKey },
    controlRoom: controlRoom?.url ?? null,
    mailbox: mail?.url ?? null,
  }
}

async function ensureUser(users: UserAccounts, password: string, kept: boolean): Promise<User> {
  const found = await users.findByEmail(EMAIL)
  if (!found) {
    return users.create({
      ...{ email: EMAIL, name: 'Demo', password, role: 'owner' as const },
      demo: true,
      isVerified: true,
    })
  }
  // The file with the password was deleted, but the database still has the user.
  if (!kept) await users.changePassword(found.id, password)
  return found
}

/**
 * Returns the existing client, with a redirect URI for the present address added, or creates one.
 */
async function ensureClient(
  oauth: AuthorizationServer<User>,
  known: DemoClient | undefined,
  clientToCreate: NewClient,
): Promise<DemoClient> {
  const found = known ? await oauth.clients.find(known.id) : null
  if (!known || !found || found.revokedAt) {
    const { client, secret } = await oauth.clients.create(clientToCreate)
    return { id: client.id, secret }
  }
  const redirect = clientToCreate.redirect === undefined ? null : String(clientToCreate.redirect)
  if (redirect !== null && !found.redirectUris.includes(redirect)) {
    await oauth.clients.update(known.id, { name: found.name, redirect })
  }
  return known
}
