import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { ConfigurationError } from '../configuration-error.ts'
import { loadConfig, loadSettings } from './load-config.ts'
import { parseSettings } from './settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-settings-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('parseSettings()', () => {
  it('returns the defaults for missing settings', () => {
    const settings = parseSettings({
      plans: [{ id: 'basic', name: 'Basic', amount: 500, months: 1 }],
    })
    expect(settings.plans).toEqual([
      {
        id: 'basic',
        name: 'Basic',
        amount: 500,
        months: 1,
        plan: 'basic',
        description: '',
        features: [],
        trialDays: 0,
        promotionCodes: true,
        seats: { min: 1, max: 1, count: null },
        prices: [],
        rates: null,
        meter: null,
        unit: null,
        stripe: 'basic',
        braintree: 'basic',
        scopes: null,
        quota: null,
        rate: null,
      },
    ])
    expect(settings.scopes).toHaveProperty('place-orders')
    expect(settings.currency).toBe('usd')
  })

  it.each([
    ['an unknown name', { planz: [] }, /planz: there is no such setting\. Did you mean plans\?/],
    ['another case', { accesstokensExpireIn: 1 }, /Did you mean accessTokensExpireIn\?/],
    ['an unknown name far from all', { zzz: 1 }, /zzz: there is no such setting\.$/],
    [
      'an unknown name in a plan',
      { plans: [{ id: 'a', name: 'A', amount: 1, months: 1, trialdays: 3 }] },
      /plans\.0\.trialdays: there is no such setting\. Did you mean trialDays\?/,
    ],
    ['an unknown name in the invoice', { invoice: { vendor: 'A', prodcut: 'B' } }, /product\?/],
    [
      'a broken amount',
      { plans: [{ id: 'a', name: 'A', amount: 1.5, months: 1 }] },
      /plans\.0\.amount/,
    ],
    [
      'a currency of four letters',
      { currency: 'euro' },
      /currency: expected a currency code of three letters/,
    ],
    [
      'a time for late repeats beyond a week',
      { refreshTokensRepeatableFor: '8d' },
      /refreshTokensRepeatableFor: expected 10 seconds to 7 days/,
    ],
    [
      'one of public clients that is none',
      { publicRefreshTokensRepeatableFor: true },
      /publicRefreshTokensRepeatableFor: /,
    ],
    ['claims that are no function', { claims: { locale: 'en' } }, /claims: expected a function/],
    ['a tax that is no function', { taxPercentage: 19 }, /taxPercentage: expected a function/],
    ['an MCP server without scopes', { mcpServers: { 'https://a.example/mcp': {} } }, /mcpServers/],
    ['an unknown policy', { selfRegistered: { policy: 'on' } }, /selfRegistered\.policy: expected/],
    [
      'an unknown name in a group',
      { selfRegistered: { scope: ['read'] } },
      /selfRegistered\.scope: there is no such setting\. Did you mean scopes\?/,
    ],
    [
      'an address for a host',
      { selfRegistered: { documents: ['https://app.example'] } },
      /selfRegistered\.documents/,
    ],
    [
      'a name for an address',
      { outgoing: { privateAddresses: ['localhost'] } },
      /outgoing\.privateAddresses\.0: expected an IP address or a network/,
    ],
    ['a path for a certificate', { outgoing: { certificates: ['ca.pem'] } }, /expected a PEM/],
    ['a word for a switch', { dpop: 'always' }, /dpop: expected true, false or 'required'/],
    ['a lifetime without unit', { accessTokensExpireIn: '15 days' }, /accessTokensExpireIn/],
    ['no object', 'settings', /the file/],
  ])('rejects %s with an error that says where it is', (_, input, message) => {
    expect(() => parseSettings(input)).toThrow(message)
  })
})

describe('loadSettings()', () => {
  it('reads a tollgate.config.ts', async () => {
    writeFileSync(
      join(folder, 'tollgate.config.ts'),
      `interface Tax { country: string }
       const rates: Record<string, number> = { DE: 19 }
       export default { name: 'Shop', scopes: { read: 'Read it' }, taxPercentage: () => rates.DE }`,
    )
    const { settings, problems } = await loadSettings(folder, null)
    expect(problems).toEqual([])
    expect(settings).toMatchObject({ name: 'Shop', scopes: { read: 'Read it' } })
    expect(await settings.taxPercentage?.({} as never)).toBe(19)
  })

  it('returns the defaults without a file', async () => {
    const { settings, problems } = await loadSettings(tmpdir(), null)
    expect([settings.name, problems]).toEqual(['Tollgate', []])
  })

  it('reports a file that is missing or cannot be loaded', async () => {
    const missing = await loadSettings(folder, 'missing.ts')
    expect(missing.problems).toEqual([expect.stringMatching(/missing\.ts, which does not exist$/)])
    writeFileSync(join(folder, 'broken.mjs'), 'export default {')
    const broken = await loadSettings(folder, 'broken.mjs')
    expect(broken.problems).toEqual([expect.stringMatching(/^broken\.mjs cannot be loaded: \S/)])
  })
})

describe('loadConfig()', () => {
  it('reports all mistakes in the file and the environment at once, each with its fix', async () => {
    const file = join(folder, 'wrong.mjs')
    writeFileSync(
      file,
      "export default { planz: [], currency: 'euro', selfRegistered: { scope: [] }, dpop: 'always' }",
    )
    const environment = {
      NODE_ENV: 'production',
      DATABASE_URL: 'app.db',
      TOLLGATE_CONFIG: file,
      TOLLGATE_SECRET: 'short',
      TOLLGATE_CORS: 'perhaps',
      BRAINTREE_MERCHANT_ID: 'm',
    }
    const error = await loadConfig(environment).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ConfigurationError)
    expect((error as ConfigurationError).problems).toEqual([
      'TOLLGATE_URL is missing: the public URL, e.g. https://api.example.com',
      'BRAINTREE_ENVIRONMENT is missing: sandbox or production',
      'BRAINTREE_PUBLIC_KEY is missing: from the Braintree control panel, under API keys',
      'BRAINTREE_PRIVATE_KEY is missing: from the Braintree control panel, under API keys',
      'DATABASE_URL has no URL scheme, but must be postgres://…, mysql://… or sqlite:/path/to/file.db',
      'TOLLGATE_SECRET needs at least 32 random characters, e.g. from `openssl rand -base64 32`',
      'TOLLGATE_CORS expects on or off',
      'wrong.mjs: planz: there is no such setting. Did you mean plans?',
      'wrong.mjs: currency: expected a currency code of three letters such as usd',
      'wrong.mjs: selfRegistered.scope: there is no such setting. Did you mean scopes?',
      "wrong.mjs: dpop: expected true, false or 'required'",
    ])
  })
})
