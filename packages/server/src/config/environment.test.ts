import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { ConfigurationError } from '../configuration-error.ts'
import type { Need } from './config.ts'
import { readEnvironment } from './environment.ts'
import { parseSettings } from './settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-config-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const ALL: readonly Need[] = ['secret', 'url', 'providers']
const SECRET = 'kS9x1QfVbT7mZp3Lr8Wc2Yh5Ng0Ju4Da'
const production = {
  DATABASE_URL: 'postgres://db.internal/app',
  TOLLGATE_SECRET: SECRET,
  TOLLGATE_URL: 'https://api.example.com',
  STRIPE_SECRET: 'sk_live_1',
  STRIPE_WEBHOOK_SECRET: 'whsec_1',
}

function read(environment: Record<string, string>, needs = ALL) {
  return readEnvironment(
    { TOLLGATE_DATA_DIR: folder, ...environment },
    { settings: parseSettings({}), needs },
  )
}

function refusal(environment: Record<string, string>, needs = ALL): string {
  try {
    read(environment, needs)
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError)
    return (error as Error).message
  }
  throw new Error('It was accepted')
}

describe('the settings of a demo', () => {
  it('may all be missing: the demo then listens only on this machine and keeps a generated secret', () => {
    const config = read({})
    expect(config).toMatchObject({ mode: 'demo', host: '127.0.0.1', port: 3000 })
    expect(config.url).toBe('http://localhost:3000')
    expect(config.databaseUrl).toBe(`sqlite:${folder}/tollgate.db`)
    expect(read({}).secrets).toEqual(config.secrets)
    expect(readFileSync(join(folder, 'secret'), 'utf8')).toBe(config.secrets[0])
  })

  it('may use any database', () => {
    expect(read({ DATABASE_URL: 'postgres://db/app' })).toMatchObject({ mode: 'demo' })
  })

  it('contain no URL before the start if PORT asks for a free port', () => {
    expect(read({ PORT: '0' }).url).toBeNull()
  })
})

describe('TOLLGATE_WORKERS', () => {
  const read = (environment: Record<string, string>) =>
    readEnvironment(environment, { settings: parseSettings({}), needs: [] }).workers

  it('is a number, or auto for one worker per core; if it is missing, one process serves all requests', () => {
    const production = { NODE_ENV: 'production', DATABASE_URL: 'sqlite:app.db' }
    expect(read(production)).toBe(null)
    expect(read({ ...production, TOLLGATE_WORKERS: '4' })).toBe(4)
    expect(read({ ...production, TOLLGATE_WORKERS: 'auto' })).toBe('auto')
  })

  it.each(['0', '257', '1.5', '-1', 'all', '1e1'])('rejects the value %s', (value) => {
    expect(() => read({ TOLLGATE_WORKERS: value })).toThrow(
      `TOLLGATE_WORKERS is '${value}', but must be auto or a whole number from 1 to 256`,
    )
  })

  it('is at most 1 in a demo, because only one process can own the sandbox and its clock', () => {
    expect(read({ TOLLGATE_WORKERS: '1' })).toBe(1)
    expect(read({ TOLLGATE_WORKERS: 'auto' })).toBe('auto')
    expect(() => read({ TOLLGATE_WORKERS: '2' })).toThrow('a demo runs in one process')
  })
})

describe("Stripe's webhook secret", () => {
  const { STRIPE_WEBHOOK_SECRET: _, ...withoutOne } = production

  it('is required by commands that receive webhooks', () => {
    expect(refusal(withoutOne)).toContain('STRIPE_WEBHOOK_SECRET is missing')
    expect(read(withoutOne, ['secret']).stripe).toBeNull()
  })

  it('is not required by the command that registers the webhook endpoint, which returns it', () => {
    expect(read(withoutOne, ['provider_keys']).stripe).toMatchObject({ secret: 'sk_live_1' })
    const { STRIPE_SECRET: __, ...none } = withoutOne
    const message = refusal({ ...none, NODE_ENV: 'production' }, ['provider_keys'])
    expect(message).toContain('STRIPE_SECRET is missing')
    expect(message).not.toContain('STRIPE_WEBHOOK_SECRET')
  })

  it('is read if it is set, even by commands that do not require it', () => {
    expect(read(production, ['provider_keys']).stripe).toMatchObject({ webhookSecret: ['whsec_1'] })
  })
})

describe('TOLLGATE_SECRET', () => {
  it('is reported as too short, but not as missing as well', () => {
    const message = refusal({ ...production, TOLLGATE_SECRET: 'short' })
    expect(message).toContain('TOLLGATE_SECRET needs at least 32 random characters')
    expect(message).not.toContain('missing')
  })

  it.each([
    ['few characters', 'abcabcabcabcabcabcabcabcabcabcabcabc', /weak: it has fewer than 8/],
    ['a placeholder', 'please-change-me-0123456789-abcdefgh', /weak: it looks like a placeholder/],
  ])('is reported as weak, and not as the secret of a demo: %s', (_, secret, why) => {
    const message = refusal({ ...production, TOLLGATE_SECRET: secret })
    expect(message).toMatch(why)
    expect(message).not.toContain('the demo secret')
    expect(message).not.toContain(secret)
  })

  it('is rejected in production if it is the secret of a demo', () => {
    const [secret = ''] = read({}).secrets
    expect(refusal({ ...production, TOLLGATE_SECRET: secret })).toContain('is the demo secret in')
  })
})

it.each([
  ['TOLLGATE_SECRTE', 'Did you mean TOLLGATE_SECRET?'],
  ['TOLLGATE_TRUSTED_PROXY', 'Did you mean TOLLGATE_TRUSTED_PROXIES?'],
  ['TOLLGATE_COLOUR', 'Is it misspelt?'],
])('readEnvironment() warns about the unknown variable %s: %s', (name, hint) => {
  expect(read({ [name]: 'x' }).warnings).toEqual([`${name} is not a setting of Tollgate. ${hint}`])
})

it('readEnvironment() lets variables disable grants and features that the configuration file enables', () => {
  expect(read({}).settings).toMatchObject({ passwordGrant: true, implicitGrant: true })
  const off = read({ TOLLGATE_PASSWORD_GRANT: 'off', TOLLGATE_IMPLICIT_GRANT: 'off' })
  expect(off.settings).toMatchObject({ passwordGrant: false, implicitGrant: false })
  expect(read({}).settings).toMatchObject({ openid: true, cors: false, signingAlgorithm: 'ES256' })
  const other = read({
    TOLLGATE_OPENID: 'off',
    TOLLGATE_CORS: 'on',
    TOLLGATE_SIGNING_ALGORITHM: 'RS256',
  })
  expect(other.settings).toMatchObject({ openid: false, cors: true, signingAlgorithm: 'RS256' })
  expect(read({}).settings).toMatchObject({ deviceGrant: true, exchangeGrant: true })
  const fewer = read({ TOLLGATE_DEVICE_GRANT: 'off', TOLLGATE_EXCHANGE_GRANT: 'off' })
  expect(fewer.settings).toMatchObject({ deviceGrant: false, exchangeGrant: false })
  expect(() => read({ TOLLGATE_SIGNING_ALGORITHM: 'none' })).toThrow('expects EdDSA')
})

describe('the settings for clients that register themselves', () => {
  const closed = { policy: 'closed', documents: false, scopes: [], resources: null }
  const strangers = (environment: Record<string, string>, selfRegistered?: object) =>
    readEnvironment(
      { TOLLGATE_DATA_DIR: folder, ...environment },
      { settings: parseSettings({ ...(selfRegistered && { selfRegistered }) }), needs: ALL },
    ).selfRegistered

  it('allow registration by default only in a demo that listens only on this machine', () => {
    expect(strangers({})).toMatchObject({ policy: 'open', documents: true })
    expect(strangers({}).scopes).toEqual([
      'place-orders',
      'check-status',
      'openid',
      'profile',
      'email',
    ])
    expect(strangers({ HOST: '0.0.0.0' })).toMatchObject(closed)
    expect(strangers(production)).toMatchObject(closed)
    expect(strangers({}, {})).toMatchObject(closed)
  })

  it('come from the configuration file, unless the environment overrides them', () => {
    const said = { policy: 'open', documents: ['app.example'], scopes: ['place-orders'] }
    expect(strangers(production, said)).toMatchObject(said)
    const environment = {
      ...production,
      TOLLGATE_CLIENT_REGISTRATION: 'closed',
      TOLLGATE_CLIENT_DOCUMENTS: 'a.example, b.example:8443',
    }
    expect(strangers(environment, said)).toMatchObject({
      policy: 'closed',
      documents: ['a.example', 'b.example:8443'],
      scopes: ['place-orders'],
    })
  })

  it('include the scopes in the environment instead of those in the configuration file', () => {
    const said = { policy: 'open', scopes: ['place-orders'] }
    const environment = { ...production, TOLLGATE_SELF_REGISTERED_SCOPES: 'check-status openid' }
    expect(strangers(environment, said).scopes).toEqual(['check-status', 'openid'])
  })

  it('allow client ID metadata documents if there are MCP servers, but then only for tokens for these servers', () => {
    const servers = { 'https://api.example.com/mcp': { scopes: ['place-orders'] } }
    const readWith = (settings: object) =>
      readEnvironment(production, { settings: parseSettings(settings), needs: ALL }).selfRegistered
    const only = { scopes: ['place-orders'], resources: Object.keys(servers), documents: true }
    expect(readWith({ mcpServers: servers })).toMatchObject({ policy: 'closed', ...only })
    const named = {
      ...production,
      TOLLGATE_MCP_SERVERS: 'https://api.example.com/mcp place-orders',
    }
    expect(strangers(named)).toMatchObject({ policy: 'closed', ...only })
    const selfRegistered = { policy: 'open' }
    expect(readWith({ mcpServers: servers, selfRegistered })).toMatchObject({
      policy: 'open',
      ...only,
    })
  })

  it('must contain initial access tokens if the policy is initial-access-token, and error messages do not reveal the tokens', () => {
    const policy = { TOLLGATE_CLIENT_REGISTRATION: 'initial-access-token' }
    for (const environment of [policy, { ...production, ...policy }]) {
      expect(refusal(environment)).toContain('TOLLGATE_INITIAL_ACCESS_TOKENS is missing')
    }
    expect(read(policy, []).selfRegistered.policy).toBe('initial-access-token')
    const short = refusal({ ...policy, TOLLGATE_INITIAL_ACCESS_TOKENS: `${SECRET},short-token` })
    expect(short).toContain('TOLLGATE_INITIAL_ACCESS_TOKENS needs tokens of at least 32')
    expect(short).not.toContain('short-token')
    const tokens = { TOLLGATE_INITIAL_ACCESS_TOKENS: `${SECRET}, ${SECRET}2` }
    const { initialAccessTokens } = strangers({ ...policy, ...tokens })
    expect(initialAccessTokens).toEqual([SECRET, `${SECRET}2`])
    expect(read(tokens).warnings).toEqual([
      'TOLLGATE_INITIAL_ACCESS_TOKENS is not used, because the policy for client registration is open.',
    ])
  })
})

it('readEnvironment() reads the pairwise salt only from the environment, because it is a secret', () => {
  expect(read({}).pairwiseSalt).toBeNull()
  expect(read({ TOLLGATE_PAIRWISE_SALT: SECRET }).pairwiseSalt).toBe(SECRET)
})

it('readEnvironment() reads the settings for OAuth and OpenID Connect standards from environment variables', () => {
  expect(read({}).settings).toMatchObject({
    clientLogos: true,
    clientAssertions: true,
    clientAssertionsExpireIn: '1h',
    pushedRequests: true,
    requestObjects: true,
    dpop: true,
    requestObjectsByReference: false,
    unsignedRequestObjects: false,
    dpopNonces: false,
    dpopGuardReplays: 'everywhere',
    fapi2: false,
    idTokenAlgorithm: 'RS256',
    claimsInIdToken: true,
    identityScopes: ['profile', 'email'],
    responseTypes: [],
    optionalScopes: [],
    mcpServers: null,
    stepUp: false,
    signedIntrospection: false,
    outgoing: { privateAddresses: [], certificates: [] },
    tokenType: 'at+jwt',
  })
  const { settings } = read({
    TOLLGATE_CLIENT_LOGOS: 'off',
    TOLLGATE_CLIENT_ASSERTIONS: 'shared-secrets',
    TOLLGATE_CLIENT_ASSERTIONS_EXPIRE_IN: '10m',
    TOLLGATE_PUSHED_REQUESTS: 'required',
    TOLLGATE_REQUEST_OBJECTS: 'off',
    TOLLGATE_DPOP: 'Required',
    TOLLGATE_REQUEST_OBJECTS_BY_REFERENCE: 'on',
    TOLLGATE_UNSIGNED_REQUEST_OBJECTS: 'on',
    TOLLGATE_DPOP_NONCES: 'on',
    TOLLGATE_DPOP_GUARD_REPLAYS: 'process',
    TOLLGATE_ID_TOKEN_ALGORITHM: 'ES256',
    TOLLGATE_CLAIMS_IN_ID_TOKEN: 'off',
    TOLLGATE_IDENTITY_SCOPES: 'email, phone',
    TOLLGATE_RESPONSE_TYPES: 'id_token,  code  id_token',
    TOLLGATE_OPTIONAL_SCOPES: 'place-orders, check-status',
    TOLLGATE_MCP_SERVERS:
      'https://a.example/mcp place-orders check-status, https://b.example/mcp check-status',
    TOLLGATE_STEP_UP: 'on',
    TOLLGATE_SIGNED_INTROSPECTION: 'on',
    TOLLGATE_PRIVATE_ADDRESSES: '10.0.0.0/8, 127.0.0.1',
    TOLLGATE_TOKEN_TYPE: 'JWT',
  })
  expect(settings).toMatchObject({
    clientLogos: false,
    clientAssertions: 'shared-secrets',
    clientAssertionsExpireIn: '10m',
    pushedRequests: 'required',
    requestObjects: false,
    dpop: 'required',
    requestObjectsByReference: true,
    unsignedRequestObjects: true,
    dpopNonces: true,
    dpopGuardReplays: 'process',
    idTokenAlgorithm: 'ES256',
    claimsInIdToken: false,
    identityScopes: ['email', 'phone'],
    responseTypes: ['id_token', 'code id_token'],
    optionalScopes: ['place-orders', 'check-status'],
    mcpServers: {
      'https://a.example/mcp': { scopes: ['place-orders', 'check-status'] },
      'https://b.example/mcp': { scopes: ['check-status'] },
    },
    stepUp: true,
    signedIntrospection: true,
    outgoing: { privateAddresses: ['10.0.0.0/8', '127.0.0.1'], certificates: [] },
    tokenType: 'JWT',
  })
})

describe('the setting fapi2', () => {
  it('disables everything that the profile forbids, and requires everything that it demands', () => {
    const { settings } = read({ TOLLGATE_FAPI2: 'on' })
    expect(settings).toMatchObject({
      fapi2: true,
      passwordGrant: false,
      implicitGrant: false,
      pushedRequests: 'required',
      dpop: 'required',
      idTokenAlgorithm: 'ES256',
    })
    const eddsa = read({ TOLLGATE_FAPI2: 'on', TOLLGATE_ID_TOKEN_ALGORITHM: 'EdDSA' })
    expect(eddsa.settings.idTokenAlgorithm).toBe('EdDSA')
  })

  it.each([
    ['TOLLGATE_CLIENT_ASSERTIONS', 'shared-secrets', 'clientAssertions'],
    ['TOLLGATE_CLIENT_ASSERTIONS', 'off', 'clientAssertions'],
    ['TOLLGATE_PUSHED_REQUESTS', 'off', 'pushedRequests'],
    ['TOLLGATE_DPOP', 'off', 'dpop'],
    ['TOLLGATE_RESPONSE_TYPES', 'code id_token', 'responseTypes'],
    ['TOLLGATE_REQUEST_OBJECTS_BY_REFERENCE', 'on', 'requestObjectsByReference'],
    ['TOLLGATE_UNSIGNED_REQUEST_OBJECTS', 'on', 'unsignedRequestObjects'],
    ['TOLLGATE_SIGNING_ALGORITHM', 'RS256', 'signingAlgorithm'],
  ])(
    'rejects %s=%s, which contradicts FAPI 2.0, with an error that names the setting',
    (name, value, setting) => {
      expect(refusal({ TOLLGATE_FAPI2: 'on', [name]: value })).toContain(
        `fapi2 contradicts ${setting}`,
      )
      expect(() => read({ [name]: value })).not.toThrow()
    },
  )
})

describe('the configuration in production', () => {
  it('accepts a complete configuration', () => {
    const config = read({ ...production, TOLLGATE_PREVIOUS_SECRET: `${SECRET}-before` })
    expect(config).toMatchObject({ mode: 'production', host: '0.0.0.0', logLevel: 'info' })
    expect(config.secrets).toEqual([SECRET, `${SECRET}-before`])
    expect(config.stripe).toMatchObject({ secret: 'sk_live_1', webhookSecret: ['whsec_1'] })
    expect(config.braintree).toBeNull()
  })

  const braintree = {
    BRAINTREE_ENVIRONMENT: 'production',
    BRAINTREE_MERCHANT_ID: 'm',
    BRAINTREE_PUBLIC_KEY: 'p',
    BRAINTREE_PRIVATE_KEY: 'k',
  }
  const without = (...names: string[]) =>
    Object.fromEntries(
      Object.entries({ ...production, ...braintree }).filter(([name]) => !names.includes(name)),
    )

  it.each([
    [
      'NODE_ENV alone',
      { NODE_ENV: 'production' },
      ['DATABASE_URL', 'TOLLGATE_SECRET', 'TOLLGATE_URL', 'STRIPE_SECRET', 'STRIPE_WEBHOOK_SECRET'],
    ],
    [
      'a key of Stripe alone',
      { STRIPE_SECRET: 'sk_live_1' },
      ['DATABASE_URL', 'TOLLGATE_SECRET', 'TOLLGATE_URL', 'STRIPE_WEBHOOK_SECRET'],
    ],
    ['no database', without('DATABASE_URL'), ['DATABASE_URL']],
    ['no secret', without('TOLLGATE_SECRET'), ['TOLLGATE_SECRET']],
    ['no address', without('TOLLGATE_URL'), ['TOLLGATE_URL']],
    ['no webhook secret', without('STRIPE_WEBHOOK_SECRET'), ['STRIPE_WEBHOOK_SECRET']],
    [
      'half of Braintree',
      without('BRAINTREE_PRIVATE_KEY', 'BRAINTREE_MERCHANT_ID'),
      ['BRAINTREE_MERCHANT_ID', 'BRAINTREE_PRIVATE_KEY'],
    ],
    [
      'blank values',
      { ...production, TOLLGATE_SECRET: '', STRIPE_WEBHOOK_SECRET: '' },
      ['TOLLGATE_SECRET', 'STRIPE_WEBHOOK_SECRET'],
    ],
  ])('reports exactly the missing variables if only this is set: %s', (_, environment, missing) => {
    const message = refusal(environment)
    const named = [...message.matchAll(/^ {2}(\w+) is missing/gm)].map(([, name]) => name)
    expect(named).toEqual(missing)
    expect(message).not.toContain('sk_live_1')
  })

  it('accepts Braintree without Stripe', () => {
    const config = read(without('STRIPE_SECRET', 'STRIPE_WEBHOOK_SECRET'))
    expect(config.stripe).toBeNull()
    expect(config.braintree).toMatchObject({ merchantId: 'm' })
  })

  it('requires only the variables that the command needs', () => {
    const environment = { NODE_ENV: 'production', DATABASE_URL: 'postgres://db/app' }
    expect(read(environment, []).databaseUrl).toBe('postgres://db/app')
    expect(refusal(environment, ['secret'])).toContain('TOLLGATE_SECRET is missing')
  })

  it.each([
    ['the secret of the demo in the same folder', () => read({}).secrets[0] ?? ''],
    ['one repeated letter', () => 'x'.repeat(40)],
    ['text from an example', () => 'please-change-me-please-change-me-0123456789'],
  ])('rejects a TOLLGATE_SECRET that is %s', (_, secret) => {
    const message = refusal({ ...production, TOLLGATE_SECRET: secret() })
    expect(message).toContain('TOLLGATE_SECRET')
    expect(message).not.toContain(secret())
  })
})

describe('environment variables', () => {
  it.each([
    ['PORT', 'http', 'a whole number from 0 to 65535'],
    ['PORT', '70000', 'a whole number from 0 to 65535'],
    ['DATABASE_URL', 'foo://db/app', 'begins with foo:, but must be postgres://'],
    ['DATABASE_URL', 'app.db', 'has no URL scheme, but must be postgres://'],
    ['STRIPE_SECRET', 'abc', "Stripe's secret key, sk_… or rk_…"],
    ['STRIPE_SECRET', 'pk_live_1', "Stripe's secret key, sk_… or rk_…"],
    ['STRIPE_WEBHOOK_SECRET', 'abc', "the endpoint's signing secret, whsec_…"],
    ['TOLLGATE_URL', 'api.example.com', 'an http(s) URL'],
    ['TOLLGATE_URL', 'https://example.com/auth', 'without a path'],
    ['TOLLGATE_SECRET', 'short', 'at least 32 random characters'],
    ['TOLLGATE_REGISTRATION', 'perhaps', 'on or off'],
    ['TOLLGATE_TRUSTED_PROXIES', '10.0.0.0/99', 'IP addresses or networks'],
    ['TOLLGATE_METRICS_TOKEN', 'short', 'at least 16 characters'],
    ['TOLLGATE_CLIENT_REGISTRATION', 'yes', 'closed, initial-access-token, open'],
    ['TOLLGATE_CLIENT_DOCUMENTS', 'https://app.example', 'on, off or host names'],
    ['TOLLGATE_CLIENT_ASSERTIONS', 'required', 'on, off or shared-secrets'],
    ['TOLLGATE_CLIENT_ASSERTIONS_EXPIRE_IN', '2h', 'an hour at most'],
    ['TOLLGATE_DPOP', 'always', 'on, off or required'],
    ['TOLLGATE_PRIVATE_ADDRESSES', 'localhost', 'IP addresses or networks'],
    ['TOLLGATE_TOKEN_TYPE', 'jwt', 'at+jwt or JWT'],
    ['TOLLGATE_DPOP_GUARD_REPLAYS', 'never', 'everywhere or process'],
    ['TOLLGATE_ID_TOKEN_ALGORITHM', 'none', 'ES256'],
    ['TOLLGATE_IDENTITY_SCOPES', 'email, roles', 'profile, email, address, phone, groups'],
    ['TOLLGATE_RESPONSE_TYPES', 'token id_token', 'id_token token'],
    ['TOLLGATE_PAIRWISE_SALT', 'salt', 'at least 32 random characters'],
    ['TOLLGATE_MCP_SERVERS', 'https://a.example/mcp', 'https://api.example.com/mcp read-orders'],
    ['TOLLGATE_MCP_SERVERS', 'a.example place-orders', 'https://api.example.com/mcp read-orders'],
    ['TOLLGATE_LOG_LEVEL', 'loud', 'fatal, error, warn, info'],
    ['BRAINTREE_ENVIRONMENT', 'qa', 'sandbox or production'],
  ])('rejects %s=%s and states the expected value', (name, value, expected) => {
    const message = refusal({ [name]: value })
    expect(message).toContain(name)
    expect(message).toContain(expected)
  })

  it('include TOLLGATE_REGISTRATION=off, which overrides the configuration file', () => {
    expect(read({ TOLLGATE_REGISTRATION: 'off' }).settings.registration).toBe('closed')
    expect(read({}).settings.registration).toBe('open')
  })
})
