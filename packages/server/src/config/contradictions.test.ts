import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { ConfigurationError } from '../configuration-error.ts'
import { readEnvironment } from './environment.ts'
import { readSettings, type SettingsInput } from './settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-contradictions-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

type Environment = Readonly<Record<string, string>>

const production: Environment = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgres://db.internal/app',
  TOLLGATE_SECRET: 'kS9x1QfVbT7mZp3Lr8Wc2Yh5Ng0Ju4Da',
  TOLLGATE_URL: 'https://api.example.com',
  STRIPE_SECRET: 'sk_live_1',
  STRIPE_WEBHOOK_SECRET: 'whsec_1',
}

function read(input: object, environment: Environment = {}) {
  return readEnvironment(
    { TOLLGATE_DATA_DIR: folder, ...environment },
    { ...readSettings(input), needs: ['secret', 'url', 'providers'] },
  )
}

function problemsOf(input: object, environment: Environment = {}): readonly string[] {
  try {
    read(input, environment)
    return []
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError)
    return (error as ConfigurationError).problems
  }
}

const mailServer = {
  TOLLGATE_SMTP_URL: 'smtp://mail.example.com',
  TOLLGATE_MAIL_FROM: 'billing@example.com',
}
const identityAssertions = {
  'https://other.example.com': { clients: {}, scopes: [], resources: [] },
}
const ACME = 'https://acme.example.com'
const trustedIssuers = [
  {
    issuer: ACME,
    jwksUri: `${ACME}/jwks`,
    scopes: ['place-orders'],
    emailDomains: ['acme.example.com'],
  },
]

describe('settings that contradict each other, or need another setting that is missing', () => {
  it.each<[string, SettingsInput, Environment, string]>([
    [
      'response types with a token, without the implicit grant',
      { responseTypes: ['id_token token'], implicitGrant: false },
      {},
      "responseTypes has 'id_token token', which needs implicitGrant: switch it on, or remove the type.",
    ],
    [
      'identity assertions without OpenID Connect',
      { identityAssertions, openid: false },
      {},
      'identityAssertions needs openid: switch it on, or remove identityAssertions.',
    ],
    [
      'identity assertions without token exchange',
      { identityAssertions },
      { TOLLGATE_EXCHANGE_GRANT: 'off' },
      'identityAssertions needs exchangeGrant: switch it on, or remove identityAssertions.',
    ],
    [
      'an optional scope that is not defined',
      {},
      { TOLLGATE_OPTIONAL_SCOPES: 'place-order' },
      "optionalScopes has 'place-order', which is not defined: add it to scopes, or remove it.",
    ],
    [
      'a default scope that is not defined',
      { scopes: { read: 'Read' }, defaultScopes: ['write'] },
      {},
      "defaultScopes has 'write', which is not defined: add it to scopes, or remove it.",
    ],
    [
      'a scope for self-registered clients that is not defined',
      { selfRegistered: { policy: 'open', scopes: ['openid', 'write'] } },
      {},
      "selfRegistered.scopes has 'write', which is not defined: add it to scopes, or remove it.",
    ],
    [
      'an API for self-registered clients that is not listed',
      { selfRegistered: { policy: 'open', resources: ['https://orders.example.com'] } },
      {},
      'selfRegistered.resources has https://orders.example.com, which is in neither resources nor mcpServers: add it there, or remove it.',
    ],
    [
      'an API that is listed twice',
      { resources: { 'https://api.example.com/mcp': {} } },
      { TOLLGATE_MCP_SERVERS: 'https://api.example.com/mcp place-orders' },
      'https://api.example.com/mcp is in resources and in mcpServers: remove it from one of them.',
    ],
    [
      'required and unsigned request objects',
      { requestObjects: 'required', unsignedRequestObjects: true },
      {},
      "requestObjects is 'required', but unsignedRequestObjects is on: switch it off, or set requestObjects to true.",
    ],
    [
      'required client assertions that are switched off',
      { clientAssertionsRequired: true, clientAssertions: false },
      {},
      'clientAssertionsRequired needs clientAssertions: switch it on, or no client can authenticate.',
    ],
    [
      'two kinds of tax',
      { taxPercentage: () => 19 },
      { TOLLGATE_TAX: 'automatic' },
      'tax and taxPercentage both determine the tax: remove one of them.',
    ],
    [
      'people of another issuer by e-mail address, while anyone can register one',
      { trustedIssuers },
      {},
      `trustedIssuers: emailDomains of ${ACME} needs registration: 'closed' or 'invitation', because anyone could register with the address of somebody else.`,
    ],
    [
      'pushed requests that live too long for FAPI 2.0',
      { fapi2: true, pushedRequestsExpireIn: '10m' },
      {},
      'fapi2 contradicts pushedRequestsExpireIn, which must be less than 600 seconds.',
    ],
    [
      'RS256 for ID tokens under FAPI 2.0',
      { fapi2: true, idTokenAlgorithms: ['ES256', 'RS256'] },
      {},
      'fapi2 contradicts idTokenAlgorithms, which must not have RS256.',
    ],
    [
      'RS256 for introspection under FAPI 2.0',
      { fapi2: true, introspectionAlgorithm: 'RS256' },
      {},
      'fapi2 contradicts introspectionAlgorithm and introspectionAlgorithms, which must not have RS256.',
    ],
    [
      'keys of two modes of Stripe',
      {},
      { ...production, STRIPE_PUBLISHABLE_KEY: 'pk_test_1' },
      'STRIPE_SECRET is a key of live mode, but STRIPE_PUBLISHABLE_KEY of test mode: take both from the same mode.',
    ],
    [
      'a mail server and a function that sends mail',
      { mail: { send: async () => {} } },
      mailServer,
      'mail.send and TOLLGATE_SMTP_URL both send mail: remove one of them.',
    ],
    [
      'settings for mail without a way to send it',
      { mail: { only: ['receipt'] } },
      production,
      'mail needs a mail server: set TOLLGATE_SMTP_URL, or add send, a function that sends one mail.',
    ],
    [
      'TLS from the beginning, and no TLS',
      {},
      { ...mailServer, TOLLGATE_SMTP_URL: 'smtps://mail.example.com', TOLLGATE_SMTP_TLS: 'off' },
      'TOLLGATE_SMTP_TLS is off, but TOLLGATE_SMTP_URL begins with smtps: remove one of them, or use smtp:.',
    ],
    [
      'a mail server without a sender',
      {},
      { TOLLGATE_SMTP_URL: mailServer.TOLLGATE_SMTP_URL },
      'TOLLGATE_MAIL_FROM is missing: the sender of all mail, e.g. Example Ltd <billing@example.com>',
    ],
    [
      'a default provider without keys',
      { defaultProvider: 'braintree' },
      production,
      'defaultProvider is braintree, which has no keys: set BRAINTREE_…, or choose the other provider.',
    ],
  ])('are rejected with the fix: %s', (_, settings, environment, sentence) => {
    expect(problemsOf(settings, environment)).toEqual([sentence])
  })

  it('are reported together, along with missing and invalid values', () => {
    const { TOLLGATE_URL: _, ...rest } = production
    const settings = {
      planz: [],
      tax: 'automatic',
      taxPercentage: () => 19,
      fapi2: true,
      dpop: false,
      openid: false,
      identityAssertions,
    }
    const environment = { ...rest, TOLLGATE_DEVICE_CODES_EXPIRE_IN: '2h' }
    expect(problemsOf(settings, environment)).toEqual([
      'TOLLGATE_URL is missing: the public URL, e.g. https://api.example.com',
      'TOLLGATE_DEVICE_CODES_EXPIRE_IN lifetime must be 60 to 1800 seconds.',
      'planz: there is no such setting. Did you mean plans?',
      'fapi2 contradicts dpop, which must not be false.',
      'identityAssertions needs openid: switch it on, or remove identityAssertions.',
      'tax and taxPercentage both determine the tax: remove one of them.',
    ])
  })

  it.each<[string, SettingsInput]>([
    ['the defaults', {}],
    ['tax by percentage', { tax: 'percentage', taxPercentage: () => 19 }],
    ['an optional scope about the person', { optionalScopes: ['email'] }],
    ['people by e-mail address in a closed service', { trustedIssuers, registration: false }],
    ['the FAPI 2.0 profile', { fapi2: true }],
    ['response types with a token', { responseTypes: ['id_token token'] }],
  ])('are not found in %s', (_, settings) => {
    expect(problemsOf(settings)).toEqual([])
    expect(read(settings).warnings).toEqual([])
  })
})

describe('settings that have no effect', () => {
  it.each<[SettingsInput, Environment, string]>([
    [
      { corsOrigins: ['https://docs.example.com'] },
      {},
      'corsOrigins has no effect while cors is off.',
    ],
    [{ dpop: false, dpopNonces: true }, {}, 'dpopNonces has no effect while dpop is off.'],
    [
      { deviceGrant: false },
      { TOLLGATE_DEVICE_POLL_INTERVAL: '10s' },
      'devicePollInterval has no effect while deviceGrant is off.',
    ],
    [
      { mcpOrigins: ['https://inspector.example.com'] },
      {},
      'mcpOrigins has no effect while mcpServers is off.',
    ],
    [
      { assertionTokensExpireIn: '10m' },
      {},
      'assertionTokensExpireIn has no effect while trustedIssuers is off.',
    ],
    [
      { clientRegistrationsPerMinute: 5 },
      production,
      'clientRegistrationsPerMinute has no effect while selfRegistered is off.',
    ],
    [
      { fapi2: true, dpopAlgorithms: ['ES256'] },
      {},
      'dpopAlgorithms has no effect, because fapi2 decides it.',
    ],
  ])('cause a warning: %j', (settings, environment, warning) => {
    expect(read(settings, environment).warnings).toEqual([warning])
  })

  it('cause no warning if the FAPI 2.0 profile allows any value for them', () => {
    expect(read({ fapi2: true, dpopNonces: true }).warnings).toEqual([])
  })
})

describe('an invalid value of a setting', () => {
  it.each<[object, string]>([
    [{ deviceCodesExpireIn: '2h' }, 'deviceCodesExpireIn: lifetime must be 60 to 1800 seconds.'],
    [{ devicePollInterval: 'often' }, "devicePollInterval: expected a lifetime such as '15d'"],
    [
      { corsOrigins: ['docs.example.com'] },
      "corsOrigins: origins has 'docs.example.com', which should",
    ],
    [{ dpopAlgorithms: [] }, 'dpopAlgorithms: expected at least one'],
    [{ dpopAlgorithms: ['HS256'] }, 'dpopAlgorithms.0: expected ES256, EdDSA'],
    [
      { on: { 'invoice.payed': () => {} } },
      "on: there is no event 'invoice.payed'. Did you mean invoice.paid?",
    ],
    [{ on: { 'invoice.paid': 'mail' } }, 'on: expected an object of functions'],
    [{ mail: { send: 'smtp' } }, 'mail: expected send to be a function that sends one mail'],
    [{ mail: { onyl: [] } }, "mail: there is no member 'onyl'. Did you mean only?"],
    [
      { mail: { only: ['receipts'] } },
      'mail: expected only to be a list of receipt, payment_failed',
    ],
    [{ tax: 19 }, "tax: expected 'percentage', 'automatic' or { rates"],
    [{ accessTokenFormat: 'paseto' }, "accessTokenFormat: expected 'jwt', 'opaque', or an object"],
    [
      { purgeEvery: '1h' },
      'purgeEvery: expected a whole number of seconds from 60 to 86400, or false',
    ],
    [{ maxFailedCharges: 0 }, 'maxFailedCharges: expected a whole number from 1 to 100'],
    [
      { promotionCodeAttempts: { limits: 3 } },
      'promotionCodeAttempts.limits: there is no such setting.',
    ],
    [
      { invoice: { vendor: 'A', product: 'B', logo: 'logo.png' } },
      'invoice.logo: expected the bytes of a file',
    ],
    [{ disputeAccess: 'stop' }, 'disputeAccess: expected keep, suspend, end'],
  ])('is rejected, and the error names the expected value: %j', (settings, sentence) => {
    expect(problemsOf(settings)).toEqual([expect.stringContaining(sentence)])
  })

  it.each([
    ['STRIPE_SECRET_KEY', 'Did you mean STRIPE_SECRET?'],
    ['BRAINTREE_MERCHANTID', 'Did you mean BRAINTREE_MERCHANT_ID?'],
    ['TOLLGATE_CORS_ORIGIN', 'Did you mean TOLLGATE_CORS_ORIGINS?'],
  ])('causes a warning if the variable %s is misspelt', (name, hint) => {
    expect(read({}, { [name]: 'x', STRIPE_CLI_TELEMETRY_OPTOUT: '1' }).warnings).toEqual([
      `${name} is not a setting of Tollgate. ${hint}`,
    ])
  })
})
