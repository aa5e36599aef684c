import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listEffectiveSettings, redactSecretValues } from '../../src/config/in-force.ts'
import { createAccountHelpers } from '../accounts.ts'
import { startTestService, type TestService, testConfig } from '../support.ts'
import { createOperatorHelpers } from './operators.ts'

const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
const SALT = 'Uq7Xn2Lp9Vb4Ke1Ws6Rt3Yd8Hg5Jf0Za'

let service: TestService
let operators: ReturnType<typeof createOperatorHelpers>
beforeAll(async () => {
  service = await startTestService({
    environment: {
      TOLLGATE_PASSWORD_GRANT: 'off',
      TOLLGATE_PAIRWISE_SALT: SALT,
      TOLLGATE_METRICS_TOKEN: 'metrics-token-of-this-test',
      TOLLGATE_TRUSTED_PROXIES: '10.0.0.1',
    },
    settings: {
      name: 'Acme',
      taxPercentage: () => 19,
      deliveries: { endpoints: [{ url: 'https://app.example.com/e', secret: SECRET }] },
    },
  })
  operators = createOperatorHelpers(service)
})
afterAll(() => service?.stop())

describe('the current settings in the management API', () => {
  it('are shown with their source, and without any secret', async () => {
    const viewer = await operators.operator('viewer')
    const { body } = await viewer.call('GET', '/settings')
    const shown = Object.fromEntries(
      body.settings.map((each: { name: string }) => [each.name, each]),
    )
    expect(shown).toMatchObject({
      name: { source: 'file', value: 'Acme', variable: 'TOLLGATE_NAME' },
      passwordGrant: { source: 'environment', value: false, variable: 'TOLLGATE_PASSWORD_GRANT' },
      registration: { source: 'default', value: 'open' },
      taxPercentage: { source: 'file', value: '(a function)' },
      claims: { source: 'default', value: '(a function)' },
      accessTokensExpireIn: { source: 'default', value: '365d' },
      deliveries: {
        source: 'file',
        value: { endpoints: [{ url: 'https://app.example.com/e', secret: 'set' }] },
      },
      TOLLGATE_PAIRWISE_SALT: { source: 'environment', value: 'set' },
      TOLLGATE_SECRET: { source: 'default', value: 'set' },
      TOLLGATE_METRICS_TOKEN: { source: 'environment', value: 'set' },
      TOLLGATE_TRUSTED_PROXIES: { source: 'environment' },
      DATABASE_URL: { source: 'environment', value: 'set' },
      STRIPE_SECRET: { source: 'default', value: null },
    })
    expect(body.mode).toBe('demo')
    const names = body.settings
      .filter(({ value }: { value: unknown }) => value === 'set')
      .map((each: { name: string }) => each.name)
    expect(names.sort()).toEqual([
      'DATABASE_URL',
      'TOLLGATE_METRICS_TOKEN',
      'TOLLGATE_PAIRWISE_SALT',
      'TOLLGATE_SECRET',
    ])
    const text = JSON.stringify(body)
    for (const secret of [SECRET, SALT, 'metrics-token-of-this-test', service.databaseUrl]) {
      expect(text).not.toContain(secret)
    }
    expect((await viewer.call('GET', '/settings?secrets=1')).status).toBe(422)
  })

  it('name the profile that requires a value', async () => {
    const { config, remove } = await testConfig({
      settings: {
        fapi2: true,
        clientAssertions: true,
        signingAlgorithm: 'ES256',
      },
    })
    const found = new Map(listEffectiveSettings(config).map((each) => [each.name, each]))
    expect(found.get('dpop')).toMatchObject({ source: 'fapi2', value: 'required' })
    expect(found.get('fapi2')).toMatchObject({ source: 'file', value: true })
    await remove()
  })

  it('hide secrets wherever they appear', () => {
    expect(
      redactSecretValues({
        url: 'https://ada:pass@app.example.com/?token=abc&x=1',
        keys: [{ kty: 'EC', d: 'private', x: 'public' }],
        password: 'p',
        initialAccessTokens: ['one'],
        verify: () => true,
        nothing: null,
      }),
    ).toEqual({
      url: 'https://ada:set@app.example.com/?token=set&x=set',
      keys: [{ kty: 'EC', d: 'set', x: 'public' }],
      password: 'set',
      initialAccessTokens: 'set',
      verify: '(a function)',
      nothing: null,
    })
  })
})

describe('the statistics of the overview in the management API', () => {
  it('are returned per day', async () => {
    const viewer = await operators.operator('viewer')
    await createAccountHelpers(service).customer('stripe')
    await service.advance({})
    const { body } = await viewer.call('GET', '/overview')
    expect(body.since).toMatch(/^\d{4}-\d\d-\d\d$/)
    expect(body.numbers).toContainEqual(
      expect.objectContaining({ name: 'revenue', amount: 2975, currency: 'usd' }),
    )
    expect((await viewer.call('GET', '/overview?days=31')).status).toBe(422)
    expect((await operators.with({})('GET', '/overview')).status).toBe(401)
  })
})
