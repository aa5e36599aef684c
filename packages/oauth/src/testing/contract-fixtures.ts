import type {
  AuthorizationCode,
  Client,
  ClientSession,
  Interaction,
  NewRevocation,
  StoredKey,
  Ticket,
  Token,
  TokenRotation,
} from '../storage/records.ts'

export const CONTRACT_START = new Date('2026-01-01T00:00:00.123Z')

export function secondsAfterStart(seconds: number): Date {
  return new Date(CONTRACT_START.getTime() + seconds * 1000)
}

export const exampleClient: Client = {
  id: 'client-1',
  userId: 'ada',
  name: 'Ünïcode 🛂 app',
  confidential: true,
  secretHash: 'hash',
  secretVersion: 1,
  redirectUris: ['https://app.example/callback?x=1'],
  grantTypes: ['authorization_code', 'refresh_token'],
  scopes: null,
  firstParty: false,
  resourceServer: false,
  settings: { client_uri: 'https://app.example', contacts: ['ada@example.com'] },
  revokedAt: null,
  createdAt: CONTRACT_START,
  updatedAt: CONTRACT_START,
}

export const exampleToken: Token = {
  id: '01900000-0000-7000-8000-000000000001',
  clientId: 'client-1',
  userId: 'ada',
  grantType: 'authorization_code',
  name: null,
  scopes: ['a', 'b'],
  generation: 0,
  clientSecretVersion: 1,
  issuedAt: CONTRACT_START,
  expiresAt: secondsAfterStart(60),
  refreshExpiresAt: secondsAfterStart(600),
  previousExpiresAt: null,
  lateGeneration: null,
  liveUntil: secondsAfterStart(600),
  revokedAt: null,
  createdAt: CONTRACT_START,
  lastUsedAt: null,
  details: { resources: ['https://api.example'], signIn: { at: 1_767_225_600, amr: ['pwd'] } },
}

export const exampleCode: AuthorizationCode = {
  hash: 'code-hash',
  tokenId: exampleToken.id,
  clientId: 'client-1',
  userId: 'ada',
  redirectUri: 'https://app.example/callback?x=1',
  scopes: ['a'],
  codeChallenge: null,
  expiresAt: secondsAfterStart(60),
  usedAt: null,
  details: { nonce: 'ünïque', claims: { id_token: { name: null } } },
}

export const exampleInteraction: Interaction = {
  hash: 'interaction-hash',
  clientId: 'client-1',
  userId: 'ada',
  sessionId: 'session',
  responseType: 'code',
  redirectTo: 'https://app.example/callback?x=1',
  redirectUri: null,
  scopes: ['a'],
  state: 'ställ "this" 🧳 back',
  codeChallenge: null,
  createdAt: CONTRACT_START,
  expiresAt: secondsAfterStart(600),
  decidedAt: null,
  details: { nonce: 'n', claims: { userinfo: { email: { essential: true } } } },
}

export const exampleTicket: Ticket = {
  hash: 'ticket-hash',
  kind: 'pushed request',
  content: '{"scope":"ä b"}',
  expiresAt: secondsAfterStart(60),
  holder: null,
}

export const exampleSession: ClientSession = {
  sid: 'sid-1',
  sessionId: 'session',
  clientId: 'client-1',
  userId: 'ada',
  createdAt: CONTRACT_START,
  seenAt: CONTRACT_START,
  liveUntil: secondsAfterStart(600),
}

export const exampleKey: StoredKey = {
  kid: 'key-1',
  algorithm: 'EdDSA',
  publicJwk: '{"kty":"OKP"}',
  sealedPrivateJwk: 'sealed',
  createdAt: CONTRACT_START,
  activeFrom: CONTRACT_START,
}

export function createTestRotation(generation: number, at: Date): TokenRotation {
  return {
    id: exampleToken.id,
    clientId: exampleToken.clientId,
    clientSecretVersion: 1,
    generation,
    nextGeneration: generation + 1,
    issuedAt: at,
    expiresAt: new Date(at.getTime() + 60_000),
    refreshExpiresAt: new Date(at.getTime() + 600_000),
    endsOldAccessTokens: false,
  }
}

export function createTestRevocation(kind: NewRevocation['kind'], subject: string): NewRevocation {
  return { kind, subject, at: CONTRACT_START, until: secondsAfterStart(600) }
}
